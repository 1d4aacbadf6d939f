import { createSolanaClient, type SolanaClients } from '../chains/solana/client.ts'
import {
  createProgram,
  ESCROW_PROGRAM_HASH,
  finishProgram,
  readDeploymentCost,
} from '../chains/solana/deployment.ts'
import { type DeployedProgram, readProgram } from '../chains/solana/program.ts'
import { createSolanaSigner } from '../chains/solana/signer.ts'
import { type Env, type Output, UsageError } from '../command.ts'
import { rolesOf } from '../config/address-problems.ts'
import { readKeys } from '../config/secrets.ts'
import type { NetworkConfig, SolanaChainConfig } from '../config.ts'
import { about } from '../model/gas-funding.ts'

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

const SOL_DECIMALS = 9

/** Uploads the escrow program to its address in the file, or compares it. True if it is there and right. */
export async function deployProgram(options: Options): Promise<boolean> {
  const { chain, network, mode, isFinal, env, output } = options
  const say = (text: string) => output.out(`${chain.name}: ${text}`)
  const client = createSolanaClient({ urls: chain.rpcUrls })
  await assertCluster(client, chain)
  const { program: address } = chain
  const found = await readProgram(client, address)
  if (mode === 'verify-only') return verify(say, address, found)
  if (found.state === 'other') throw new Error(`Another program exists at ${address}`)
  if (found.state === 'right') say(`escrow program ${address} already exists`)
  if (mode === 'dry-run') {
    const cost = about(await readDeploymentCost(client), SOL_DECIMALS)
    if (found.state === 'missing') say(`escrow program ${address} would be created: about ${cost} SOL`)
    return true
  }
  const keys = await openKeys(env, network, address)
  if (found.state === 'missing')
    say(`escrow program ${address} created: ${await createProgram(client, keys)}`)
  const other = isFinal ? await finishProgram(client, keys.deployer, address) : undefined
  if (other)
    throw new UsageError(`Only ${other} can make the program final, and the deployer is another key.`)
  return verify(say, address, await readProgram(client, address))
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

async function openKeys(env: Env, network: NetworkConfig, address: string) {
  const problems: string[] = []
  const [payer] = readKeys(env, 'GEOSWAP_SOLANA_DEPLOYER_KEY', ['solana-deployer'], problems)
  const [own] = readKeys(env, 'GEOSWAP_SOLANA_PROGRAM_KEY', ['solana-program'], problems)
  if (!payer || !own || problems.length > 0) throw new UsageError(problems.join('\n'))
  const [deployer, program] = await Promise.all([
    createSolanaSigner(Buffer.from(payer.reveal().slice(2), 'hex')),
    createSolanaSigner(Buffer.from(own.reveal().slice(2), 'hex')),
  ])
  if (program.address !== address)
    throw new UsageError(`The file has ${address} as program, but its key is that of ${program.address}.`)
  const role = rolesOf(network).find((each) => each.address === deployer.address)
  if (role) throw new UsageError(`${deployer.address} is already ${role.what}: pay with a separate key.`)
  return { deployer, program, programSecret: own.reveal() }
}
