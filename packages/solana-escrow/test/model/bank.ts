import { AccountRole, type Address } from '@solana/kit'
import { SYSTEM_PROGRAM } from '../../src/terms.ts'

/** An account of the model. */
export type Held = { lamports: bigint; owner: Address; data: Uint8Array }
export type State = ReadonlyMap<Address, Held>

export type Environment = {
  program: Address
  seconds: bigint
  /** The balance that exempts an account of so many bytes from rent. */
  rentOf: (bytes: number) => bigint
}

export type Call = {
  accounts: readonly { address: Address; role: AccountRole }[]
  data: Uint8Array
}

/** A refusal with the code of our program, or by another program or the chain without one. */
export class Refusal extends Error {
  readonly code: number | undefined

  constructor(code?: number) {
    super()
    this.code = code
  }
}

const refusals = new Map<number | undefined, Refusal>()

/** Throws the refusal. One object for each code: a fuzzer throws millions. */
export function refuse(code?: number): never {
  const refusal = refusals.get(code) ?? new Refusal(code)
  refusals.set(code, refusal)
  throw refusal
}

/** The accounts while an instruction runs. */
export type Bank = {
  environment: Environment
  before: State
  after: Map<Address, Held>
  signers: Set<Address>
  writable: Set<Address>
}

export const NOTHING: Held = { lamports: 0n, owner: SYSTEM_PROGRAM, data: new Uint8Array() }

export function openBank(environment: Environment, before: State, { accounts }: Call): Bank {
  const withRole = (bit: AccountRole) =>
    new Set(accounts.filter(({ role }) => (role & bit) !== 0).map(({ address }) => address))
  const writable = withRole(AccountRole.WRITABLE)
  // The chain never lets these be written: a builtin program, and a program that the transaction calls.
  for (const address of [SYSTEM_PROGRAM, environment.program]) writable.delete(address)
  const signers = withRole(AccountRole.READONLY_SIGNER)
  return { environment, before, after: new Map(), signers, writable }
}

export function read(bank: Bank, address: Address): Held {
  return bank.after.get(address) ?? bank.before.get(address) ?? NOTHING
}

export function write(bank: Bank, address: Address, change: Partial<Held>): void {
  bank.after.set(address, { ...read(bank, address), ...change })
}

export function addLamports(bank: Bank, address: Address, lamports: bigint): void {
  write(bank, address, { lamports: read(bank, address).lamports + lamports })
}

/** An account may not be left with less than its rent exemption, unless it had so little before and got no more. */
export function assertRentPaid({ environment, before, after, writable }: Bank): void {
  for (const address of writable) {
    const old = before.get(address) ?? NOTHING
    const now = after.get(address) ?? old
    if (now.lamports === 0n || now.lamports >= environment.rentOf(now.data.length)) continue
    const wasPaying = old.lamports > 0n && old.lamports < environment.rentOf(old.data.length)
    if (!wasPaying || now.data.length !== old.data.length || now.lamports > old.lamports) refuse()
  }
}
