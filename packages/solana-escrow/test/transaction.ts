import { AccountRole, type Address, getAddressEncoder, type Instruction } from '@solana/kit'

const encoder = getAddressEncoder()
const keys = new Map<Address, Uint8Array>()

/** The 32 bytes of an address, remembered: base58 would take most of the time of a fuzzer. */
export function bytesOf(address: Address): Uint8Array {
  const known = keys.get(address)
  if (known) return known
  const bytes = Uint8Array.from(encoder.encode(address))
  keys.set(address, bytes)
  return bytes
}

/** A transaction with zeros for its signatures. It is kit's, only without its cost: fuzzers compile millions. */
export function compileUnsigned(feePayer: Address, instructions: readonly Instruction[]): Uint8Array {
  const roles = new Map<Address, AccountRole>([[feePayer, AccountRole.WRITABLE_SIGNER]])
  for (const { accounts = [], programAddress } of instructions) {
    for (const { address, role } of accounts) roles.set(address, (roles.get(address) ?? 0) | role)
    roles.set(programAddress, roles.get(programAddress) ?? AccountRole.READONLY)
  }
  // Signers first, and among both those that can be written.
  const sorted = [3, 2, 1, 0].flatMap((wanted) => [...roles].filter(([, role]) => role === wanted))
  const count = (test: (role: AccountRole) => boolean) => sorted.filter(([, role]) => test(role)).length
  const signers = count((role) => role >= AccountRole.READONLY_SIGNER)
  const indexes = new Map(sorted.map(([address], index) => [address, index]))
  const indexOf = (address: Address) => indexes.get(address) ?? 0
  const bytes: number[] = [signers, ...new Uint8Array(64 * signers), 0x80, signers]
  bytes.push(
    count((role) => role === AccountRole.READONLY_SIGNER),
    count((role) => role === AccountRole.READONLY),
  )
  bytes.push(sorted.length)
  for (const [address] of sorted) bytes.push(...bytesOf(address))
  bytes.push(...new Uint8Array(32), instructions.length)
  for (const { accounts = [], programAddress, data = new Uint8Array() } of instructions) {
    bytes.push(indexOf(programAddress), accounts.length, ...accounts.map(({ address }) => indexOf(address)))
    bytes.push(...lengthOf(data.length), ...data)
  }
  return Uint8Array.from([...bytes, 0])
}

function lengthOf(length: number): number[] {
  return length < 0x80 ? [length] : [(length & 0x7f) | 0x80, length >> 7]
}
