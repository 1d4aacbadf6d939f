import {
  AccountRole,
  type Address,
  getAddressEncoder,
  getProgramDerivedAddress,
  getU32Encoder,
  getU64Encoder,
  type Instruction,
} from '@solana/kit'
import { LOADER } from './program.ts'
import { SYSTEM_PROGRAM } from './token-layout.ts'

const RENT = 'SysvarRent111111111111111111111111111111111' as Address
const CLOCK = 'SysvarC1ock11111111111111111111111111111111' as Address
const { READONLY, READONLY_SIGNER, WRITABLE, WRITABLE_SIGNER } = AccountRole

/** Bytes before the code in the account that it is uploaded to, and in the program's own two accounts. */
export const BUFFER_HEADER_BYTES = 37
export const PROGRAM_BYTES = 36

/** The account that holds the code of a program. */
async function codeAddressOf(program: Address): Promise<Address> {
  const seeds = [getAddressEncoder().encode(program)]
  return (await getProgramDerivedAddress({ programAddress: LOADER, seeds }))[0]
}

type Buffer = { buffer: Address; authority: Address }

export function initializeBuffer({ buffer, authority }: Buffer): Instruction {
  const accounts = [
    { address: buffer, role: WRITABLE },
    { address: authority, role: READONLY },
  ]
  return { programAddress: LOADER, accounts, data: dataOf(0) }
}

export function writeBuffer({ buffer, authority }: Buffer, offset: number, bytes: Uint8Array): Instruction {
  const accounts = [
    { address: buffer, role: WRITABLE },
    { address: authority, role: READONLY_SIGNER },
  ]
  const written = [...getU32Encoder().encode(offset), ...getU64Encoder().encode(bytes.length), ...bytes]
  return { programAddress: LOADER, accounts, data: dataOf(1, written) }
}

type Deploy = Buffer & { payer: Address; program: Address; bytes: number }

/** Makes a program of the uploaded code. The authority can change it until `makeFinal`. */
export async function deployBuffer({
  payer,
  program,
  buffer,
  authority,
  bytes,
}: Deploy): Promise<Instruction> {
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
export async function makeFinal(program: Address, authority: Address): Promise<Instruction> {
  const accounts = [
    { address: await codeAddressOf(program), role: WRITABLE },
    { address: authority, role: READONLY_SIGNER },
  ]
  return { programAddress: LOADER, accounts, data: dataOf(4) }
}

function dataOf(kind: number, rest: Iterable<number> = []): Uint8Array {
  return Uint8Array.of(...getU32Encoder().encode(kind), ...rest)
}
