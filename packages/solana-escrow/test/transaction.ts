import {
  AccountRole,
  type Address,
  getAddressDecoder,
  getAddressEncoder,
  type Instruction,
} from '@solana/kit'

// Base58 would take most of the time of a fuzzer.
const keys = new Map<Address, Uint8Array>()
const addresses = new Map<string, Address>()

/** The 32 bytes of an address. */
export function bytesOf(address: Address): Uint8Array {
  const known = keys.get(address)
  if (known) return known
  const bytes = Uint8Array.from(getAddressEncoder().encode(address))
  keys.set(address, bytes)
  return bytes
}

/** The address of 32 bytes. */
export function addressOf(bytes: Uint8Array): Address {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, 32).toString('latin1')
  const known = addresses.get(text)
  if (known) return known
  const address = getAddressDecoder().decode(bytes)
  addresses.set(text, address)
  return address
}

/** Whether the 32 bytes at `offset` are those of the address. */
export function hasKey(bytes: Uint8Array, offset: number, address: Address): boolean {
  return Buffer.compare(bytes.subarray(offset, offset + 32), bytesOf(address)) === 0
}

const SIGNATURE_BYTES = 64
const MAX_BYTES = 4096

/** A transaction with zeros for its signatures. Kit makes the same, at a cost that a fuzzer notices. */
export function compileUnsigned(feePayer: Address, instructions: readonly Instruction[]): Uint8Array {
  const sorted = sortAccounts(feePayer, instructions)
  const counts = [0, 0, 0, 0]
  const indexes = new Map<Address, number>()
  for (const [address, role] of sorted) {
    counts[role] = (counts[role] ?? 0) + 1
    indexes.set(address, indexes.size)
  }
  const [readonly = 0, , readonlySigners = 0, writableSigners = 0] = counts
  const signers = readonlySigners + writableSigners
  const wire = new Uint8Array(MAX_BYTES)
  let at = 1 + SIGNATURE_BYTES * signers
  wire[0] = signers
  const put = (byte: number) => {
    wire[at++] = byte
  }
  for (const byte of [0x80, signers, readonlySigners, readonly, sorted.length]) put(byte)
  for (const [address] of sorted) {
    wire.set(bytesOf(address), at)
    at += 32
  }
  at += 32
  put(instructions.length)
  for (const { accounts = [], programAddress, data = new Uint8Array() } of instructions) {
    put(indexes.get(programAddress) ?? 0)
    put(accounts.length)
    for (const { address } of accounts) put(indexes.get(address) ?? 0)
    if (data.length >= 0x80) put((data.length & 0x7f) | 0x80)
    put(data.length < 0x80 ? data.length : data.length >> 7)
    wire.set(data, at)
    at += data.length
  }
  // The last byte counts the lookup tables.
  return wire.subarray(0, at + 1)
}

/** Signers first, and of both kinds first those that can be written. */
function sortAccounts(feePayer: Address, instructions: readonly Instruction[]): [Address, AccountRole][] {
  const roles = new Map<Address, AccountRole>([[feePayer, AccountRole.WRITABLE_SIGNER]])
  for (const { accounts = [], programAddress } of instructions) {
    for (const { address, role } of accounts) roles.set(address, (roles.get(address) ?? 0) | role)
    roles.set(programAddress, roles.get(programAddress) ?? AccountRole.READONLY)
  }
  return [...roles].sort(([, a], [, b]) => b - a)
}
