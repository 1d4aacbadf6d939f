import { ESCROW_PROGRAM_HASH, escrowProgram } from '@geoswap/solana-escrow/program'
import { type Address, getBase16Encoder } from '@solana/kit'
import { getCreateAccountInstruction } from '@solana-program/system'
import { readAccounts } from './accounts.ts'
import { sha256Hex } from './bytes.ts'
import type { SolanaClients } from './client.ts'
import {
  BUFFER_HEADER_BYTES,
  deployBuffer,
  initializeBuffer,
  makeFinal,
  PROGRAM_BYTES,
  writeBuffer,
} from './loader.ts'
import { CODE_AT, LOADER, readProgram } from './program.ts'
import { sendInstructions } from './send-instructions.ts'
import { createSolanaSigner, type SolanaSigner } from './signer.ts'

// A chunk fits into a transaction with its signature and accounts.
const CHUNK_BYTES = 900

export { ESCROW_PROGRAM_HASH }

/** The rent of the program's two accounts, which stays. That of the upload comes back. */
export async function readDeploymentCost({ rpc }: Pick<SolanaClients, 'rpc'>): Promise<bigint> {
  const rents = await Promise.all(
    [CODE_AT + escrowProgram.length, PROGRAM_BYTES].map((bytes) =>
      rpc.getMinimumBalanceForRentExemption(BigInt(bytes)).send(),
    ),
  )
  return rents.reduce((sum, rent) => sum + rent, 0n)
}

type Keys = { deployer: SolanaSigner; program: SolanaSigner; programSecret: string }

/** Uploads the program and returns the transaction that creates it. A second run continues the first. */
export async function createProgram(
  client: SolanaClients,
  { deployer, program, programSecret }: Keys,
): Promise<string> {
  const name = new TextEncoder().encode(`geoswap buffer ${ESCROW_PROGRAM_HASH} ${programSecret}`)
  const secret = Uint8Array.from(getBase16Encoder().encode(await sha256Hex(name)))
  const buffer = await createSolanaSigner(secret)
  await upload(client, deployer, buffer)
  const space = BigInt(PROGRAM_BYTES)
  const lamports = await client.rpc.getMinimumBalanceForRentExemption(space).send()
  const place = { payer: deployer, newAccount: program, lamports, space, programAddress: LOADER }
  const deployed = await deployBuffer({
    payer: deployer.address,
    authority: deployer.address,
    buffer: buffer.address,
    program: program.address,
    bytes: escrowProgram.length,
  })
  return sendInstructions(client, deployer, [getCreateAccountInstruction(place), deployed])
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

/** Makes the program final. Returns the authority if it is another than the deployer. */
export async function finishProgram(
  client: SolanaClients,
  deployer: SolanaSigner,
  program: string,
): Promise<string | undefined> {
  const { authority } = await readProgram(client, program)
  if (authority === undefined) return undefined
  if (authority !== deployer.address) return authority
  await sendInstructions(client, deployer, [await makeFinal(program as Address, deployer.address)])
  return undefined
}
