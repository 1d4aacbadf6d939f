import { createHash } from 'node:crypto'
import { ESCROW_PROGRAM_HASH, escrowProgram } from '@geoswap/solana-escrow/program'
import type { Address } from '@solana/kit'
import { getCreateAccountInstruction } from '@solana-program/system'
import { readAccounts } from '../chains/solana/accounts.ts'
import { createSolanaClient, type SolanaClients } from '../chains/solana/client.ts'
import {
  BUFFER_HEADER_BYTES,
  deployBuffer,
  initializeBuffer,
  makeFinal,
  PROGRAM_BYTES,
  writeBuffer,
} from '../chains/solana/loader.ts'
import { CODE_AT, type DeployedProgram, LOADER, readProgram } from '../chains/solana/program.ts'
import { createSolanaSigner, type SolanaSigner } from '../chains/solana/signer.ts'
import { type Env, type Output, UsageError } from '../command.ts'
import { rolesOf } from '../config/address-problems.ts'
import { readKeys } from '../config/secrets.ts'
import type { NetworkConfig, SolanaChainConfig } from '../config.ts'
import { sendInstructions } from './solana-sending.ts'

type Mode = 'deploy' | 'dry-run' | 'verify-only'

type Options = {
  chain: SolanaChainConfig
  network: NetworkConfig
  mode: Mode
  /** Gives up the right to change the program. */
  isFinal: boolean
  env: Env
  output: Output
}

// What fits into a transaction beside its signature and accounts.
const CHUNK_BYTES = 900
const LAMPORTS_PER_SOL = 1e9

/** Uploads the escrow program to its address in the file, or compares it. True if it is there and right. */
export async function deployProgram({
  chain,
  network,
  mode,
  isFinal,
  env,
  output,
}: Options): Promise<boolean> {
  const say = (text: string) => output.out(`${chain.name}: ${text}`)
  const client = createSolanaClient({ urls: chain.rpcUrls })
  await assertCluster(client, chain)
  const program = chain.program as Address
  const found = await readProgram(client, program)
  if (mode === 'verify-only') return verify(say, program, found)
  if (found.state === 'other') throw new Error(`Another program exists at ${program}`)
  if (mode === 'dry-run') {
    if (found.state === 'right') say(`escrow program ${program} already exists`)
    else say(`escrow program ${program} would be created: about ${await costOf(client)} SOL`)
    return true
  }
  const { deployer, programKey, bufferKey } = await openKeys(env, network, program)
  if (found.state === 'right') say(`escrow program ${program} already exists`)
  else {
    await upload(client, deployer, bufferKey)
    const txHash = await create(client, { deployer, programKey, bufferKey })
    say(`escrow program ${program} created: ${txHash}`)
  }
  if (isFinal) await finish(client, deployer, program)
  return verify(say, program, await readProgram(client, program))
}

async function assertCluster(
  { rpc }: SolanaClients,
  { name, genesisHash }: SolanaChainConfig,
): Promise<void> {
  const actual = await rpc.getGenesisHash().send()
  if (genesisHash !== undefined && actual !== genesisHash)
    throw new UsageError(`${name}: the node serves the chain of genesis ${actual}, not ${genesisHash}`)
}

function verify(
  say: (text: string) => void,
  program: string,
  { state, authority }: DeployedProgram,
): boolean {
  const ends = {
    right: `exists, code ${ESCROW_PROGRAM_HASH}, ${authority ? `${authority} can change it` : 'final'}`,
    missing: 'is missing',
    other: 'has other code',
  }
  say(`escrow program ${program} ${ends[state]}`)
  return state === 'right'
}

/** In SOL: the rent of both accounts, which stays. That of the upload comes back. */
async function costOf({ rpc }: SolanaClients): Promise<string> {
  const rents = await Promise.all(
    [CODE_AT + escrowProgram.length, PROGRAM_BYTES].map((bytes) =>
      rpc.getMinimumBalanceForRentExemption(BigInt(bytes)).send(),
    ),
  )
  return (rents.reduce((sum, rent) => sum + Number(rent), 0) / LAMPORTS_PER_SOL).toFixed(4)
}

async function openKeys(env: Env, network: NetworkConfig, program: string) {
  const problems: string[] = []
  const [payer] = readKeys(env, 'GEOSWAP_SOLANA_DEPLOYER_KEY', ['solana-deployer'], problems)
  const [own] = readKeys(env, 'GEOSWAP_SOLANA_PROGRAM_KEY', ['solana-program'], problems)
  if (!payer || !own || problems.length > 0) throw new UsageError(problems.join('\n'))
  // Follows from the program's key and the code, so that a second run continues the first.
  const ofBuffer = createHash('sha256').update(`geoswap buffer ${ESCROW_PROGRAM_HASH} ${own.reveal()}`)
  const [deployer, programKey, bufferKey] = await Promise.all([
    createSolanaSigner(Buffer.from(payer.reveal().slice(2), 'hex')),
    createSolanaSigner(Buffer.from(own.reveal().slice(2), 'hex')),
    createSolanaSigner(ofBuffer.digest()),
  ])
  if (programKey.address !== program)
    throw new UsageError(`The file has ${program} as program, but its key is that of ${programKey.address}.`)
  const role = rolesOf(network).find(({ address }) => address === deployer.address)
  if (role) throw new UsageError(`${deployer.address} is already ${role.what}: pay with a separate key.`)
  return { deployer, programKey, bufferKey }
}

/** Uploads the parts of the code that an earlier run has not uploaded. */
async function upload(client: SolanaClients, deployer: SolanaSigner, buffer: SolanaSigner): Promise<void> {
  const of = { buffer: buffer.address, authority: deployer.address }
  const [account] = await readAccounts(client, { addresses: [buffer.address] })
  if (!account) {
    const space = BigInt(BUFFER_HEADER_BYTES + escrowProgram.length)
    const lamports = await client.rpc.getMinimumBalanceForRentExemption(space).send()
    const place = { payer: deployer, newAccount: buffer, lamports, space, programAddress: LOADER }
    await sendInstructions(client, deployer, [getCreateAccountInstruction(place), initializeBuffer(of)])
  }
  const written = account?.data.slice(BUFFER_HEADER_BYTES) ?? new Uint8Array()
  for (let at = 0; at < escrowProgram.length; at += CHUNK_BYTES) {
    const bytes = escrowProgram.slice(at, at + CHUNK_BYTES)
    const isThere = bytes.every((byte, index) => written[at + index] === byte)
    if (!isThere) await sendInstructions(client, deployer, [writeBuffer(of, at, bytes)])
  }
}

type Creation = { deployer: SolanaSigner; programKey: SolanaSigner; bufferKey: SolanaSigner }

async function create(client: SolanaClients, { deployer, programKey, bufferKey }: Creation): Promise<string> {
  const space = BigInt(PROGRAM_BYTES)
  const lamports = await client.rpc.getMinimumBalanceForRentExemption(space).send()
  const place = { payer: deployer, newAccount: programKey, lamports, space, programAddress: LOADER }
  const deployed = await deployBuffer({
    ...{ payer: deployer.address, authority: deployer.address, buffer: bufferKey.address },
    ...{ program: programKey.address, bytes: escrowProgram.length },
  })
  return sendInstructions(client, deployer, [getCreateAccountInstruction(place), deployed])
}

async function finish(client: SolanaClients, deployer: SolanaSigner, program: Address): Promise<void> {
  const { authority } = await readProgram(client, program)
  if (authority === undefined) return
  if (authority !== deployer.address)
    throw new UsageError(
      `Only ${authority} can make the program final, and the deployer is ${deployer.address}.`,
    )
  await sendInstructions(client, deployer, [await makeFinal(program, deployer.address)])
}
