import { ESCROW_PROGRAM_HASH, escrowProgram } from '@geoswap/solana-escrow/program'
import {
  AccountRole,
  type Address,
  getAddressDecoder,
  getAddressEncoder,
  getBase16Encoder,
  getProgramDerivedAddress,
  getU32Encoder,
  getU64Encoder,
  type Instruction,
  type KeyPairSigner,
  type ReadonlyUint8Array,
} from '@solana/kit'
import { getCreateAccountInstruction } from '@solana-program/system'
import { readAccounts, SYSTEM_PROGRAM } from './accounts.ts'
import { sha256Hex } from './bytes.ts'
import type { SolanaClient, SolanaClients } from './client.ts'
import { sendInstructions } from './send.ts'
import { createSolanaSigner } from './settings.ts'

/** The loader of programs that an authority can change until it gives that up. */
const LOADER = 'BPFLoaderUpgradeab1e11111111111111111111111' as Address
// Kind of account and address of the code; kind, slot, and the authority with a byte that tells whether there is one.
const CODE_ADDRESS_AT = 4
const AUTHORITY_AT = 12
const CODE_AT = 45

/** `authority` can change the program; undefined once it is final. */
export type DeployedProgram = { state: 'missing' | 'other' | 'right'; authority?: string }

/** Compares a deployed program with the escrow, byte for byte. */
export async function readProgram(
  client: Pick<SolanaClient, 'rpc'>,
  program: string,
): Promise<DeployedProgram> {
  const [account] = await readAccounts(client, { addresses: [program] })
  if (!account) return { state: 'missing' }
  if (account.owner !== LOADER || !account.executable) return { state: 'other' }
  const address = getAddressDecoder().decode(account.data.slice(CODE_ADDRESS_AT))
  const [code] = await readAccounts(client, { addresses: [address] })
  if (!code) return { state: 'missing' }
  const authority = code.data[AUTHORITY_AT] === 1 ? authorityIn(code.data) : undefined
  const state = isEscrow(code.data.slice(CODE_AT)) ? 'right' : 'other'
  return { state, authority }
}

const authorityIn = (data: ReadonlyUint8Array) => getAddressDecoder().decode(data.slice(AUTHORITY_AT + 1))

/** The account may be longer than the code: the rest is zeros. */
function isEscrow(code: ReadonlyUint8Array): boolean {
  return code.length >= escrowProgram.length && code.every((byte, at) => byte === (escrowProgram[at] ?? 0))
}

const RENT = 'SysvarRent111111111111111111111111111111111' as Address
const CLOCK = 'SysvarC1ock11111111111111111111111111111111' as Address
const { READONLY, READONLY_SIGNER, WRITABLE, WRITABLE_SIGNER } = AccountRole

/** Bytes before the code in the account that it is uploaded to, and in the program's own two accounts. */
const BUFFER_HEADER_BYTES = 37
const PROGRAM_BYTES = 36

/** The account that holds the code of a program. */
async function codeAddressOf(program: Address): Promise<Address> {
  const seeds = [getAddressEncoder().encode(program)]
  return (await getProgramDerivedAddress({ programAddress: LOADER, seeds }))[0]
}

type Buffer = { buffer: Address; authority: Address }

function initializeBuffer({ buffer, authority }: Buffer): Instruction {
  const accounts = [
    { address: buffer, role: WRITABLE },
    { address: authority, role: READONLY },
  ]
  return { programAddress: LOADER, accounts, data: dataOf(0) }
}

function writeBuffer({ buffer, authority }: Buffer, offset: number, bytes: Uint8Array): Instruction {
  const accounts = [
    { address: buffer, role: WRITABLE },
    { address: authority, role: READONLY_SIGNER },
  ]
  const written = [...getU32Encoder().encode(offset), ...getU64Encoder().encode(bytes.length), ...bytes]
  return { programAddress: LOADER, accounts, data: dataOf(1, written) }
}

type Deploy = Buffer & { payer: Address; program: Address; bytes: number }

/** Makes a program of the uploaded code. The authority can change it until `makeFinal`. */
async function deployBuffer({ payer, program, buffer, authority, bytes }: Deploy): Promise<Instruction> {
  const accounts = [
    { address: payer, role: WRITABLE_SIGNER },
    { address: await codeAddressOf(program), role: WRITABLE },
    { address: program, role: WRITABLE },
    { address: buffer, role: WRITABLE },
    { address: RENT, role: READONLY },
    { address: CLOCK, role: READONLY },
    { address: SYSTEM_PROGRAM, role: READONLY },
    { address: authority, role: READONLY_SIGNER },
  ]
  return { programAddress: LOADER, accounts, data: dataOf(2, getU64Encoder().encode(BigInt(bytes))) }
}

/** Gives up the authority over a program: nobody can change it any more. */
async function makeFinal(program: Address, authority: Address): Promise<Instruction> {
  const accounts = [
    { address: await codeAddressOf(program), role: WRITABLE },
    { address: authority, role: READONLY_SIGNER },
  ]
  return { programAddress: LOADER, accounts, data: dataOf(4) }
}

function dataOf(kind: number, rest: Iterable<number> = []): Uint8Array {
  return Uint8Array.of(...getU32Encoder().encode(kind), ...rest)
}

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

type Keys = { deployer: KeyPairSigner; program: KeyPairSigner; programSecret: string }

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
async function upload(client: SolanaClients, deployer: KeyPairSigner, buffer: KeyPairSigner): Promise<void> {
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
  deployer: KeyPairSigner,
  program: string,
): Promise<string | undefined> {
  const { authority } = await readProgram(client, program)
  if (authority === undefined) return undefined
  if (authority !== deployer.address) return authority
  await sendInstructions(client, deployer, [await makeFinal(program as Address, deployer.address)])
  return undefined
}
