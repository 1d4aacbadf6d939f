import { createHash } from 'node:crypto'
import type { Address } from '@solana/kit'
import { MARKER_BYTES, SWEEP_MARGIN_SECONDS } from '../../src/accounts.ts'
import { type EscrowErrorName, escrowErrors } from '../../src/errors.ts'
import { SYSTEM_PROGRAM } from '../../src/token.ts'
import { bytesOf, hasKey } from '../transaction.ts'
import type { Held, State } from './bank.ts'
import {
  assertRentPaid,
  type Bank,
  type Call,
  type Environment,
  openBank,
  Refusal,
  read,
  refuse,
  write,
} from './bank.ts'
import {
  closeAccount,
  createAccount,
  isTokenProgram,
  transferLamports,
  transferTokens,
} from './other-programs.ts'

/** The code of our program, `refused` by another program or the chain, or the accounts that changed. */
export type Verdict = { code: number } | 'refused' | ReadonlyMap<Address, Held>

/** The program as a pure function: accounts and an instruction in, a verdict out. */
export function predict(environment: Environment, before: State, call: Call): Verdict {
  const bank = openBank(environment, before, call)
  try {
    execute(bank, call)
    assertRentPaid(bank)
    return bank.after
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error.code === undefined ? 'refused' : { code: error.code }
  }
}

function require(condition: boolean, name: EscrowErrorName): asserts condition {
  if (!condition) refuse(escrowErrors[name])
}

function execute(bank: Bank, { accounts, data }: Call): void {
  require(accounts.length <= 8, 'WRONG_ACCOUNT_COUNT')
  const addresses = accounts.map(({ address }) => address)
  const kinds: Readonly<Record<number, typeof sweep>> = { 1: sweep, 58: deliver, 170: payOut }
  const run = kinds[data.length]
  require(run !== undefined, 'WRONG_DATA')
  run(bank, addresses, data)
}

function payOut(bank: Bank, addresses: Address[], data: Uint8Array): void {
  const tag = data[0] ?? 0
  require(tag <= 3, 'WRONG_DATA')
  require(addresses.length === 7, 'WRONG_ACCOUNT_COUNT')
  const [authority, source, destination, mint, program, rentReceiver, attester] = addresses as Seven
  const terms = data.subarray(2)
  const seeds = [createHash('sha256').update(terms).digest(), data.subarray(1, 2)]
  require(isDerived(bank, authority, seeds), 'WRONG_AUTHORITY')
  require(hasKey(terms, 96, rentReceiver), 'WRONG_RENT_RECEIVER')
  require(isTokenProgram(program), 'WRONG_TOKEN_PROGRAM')
  require(looksHeldBy(read(bank, source), program, bytesOf(authority)), 'WRONG_SOURCE')
  const isClaim = (tag & 1) === 1
  const keepsRent = (tag & 2) === 2
  const isAttested = bank.signers.has(attester) && hasKey(terms, 64, attester)
  require(isAttested || !isClaim, 'NOT_ATTESTED')
  require(isAttested || bank.environment.seconds > i64At(terms, 160), 'TOO_EARLY')
  const receiver = isClaim ? terms.subarray(32, 64) : terms.subarray(0, 32)
  const held = read(bank, source).data
  const amount = u64At(held, 64)
  const signed = { signer: authority, program, source, authority }
  if (new DataView(held.buffer, held.byteOffset).getUint32(109, true) !== 1) {
    require(looksHeldBy(read(bank, destination), program, receiver), 'WRONG_DESTINATION')
    transferTokens(bank, { ...signed, mint, destination, amount })
    if (!keepsRent) closeAccount(bank, { ...signed, destination: rentReceiver })
    return
  }
  require(hasKey(receiver, 0, destination), 'WRONG_DESTINATION')
  if (!addresses.includes(SYSTEM_PROGRAM)) refuse()
  closeAccount(bank, { ...signed, destination: authority })
  transferLamports(bank, { from: authority, to: destination, amount, signer: authority })
  if (keepsRent) return
  const rest = read(bank, authority).lamports
  transferLamports(bank, { from: authority, to: rentReceiver, amount: rest, signer: authority })
}

function deliver(bank: Bank, addresses: Address[], data: Uint8Array): void {
  require(data[0] === 4, 'WRONG_DATA')
  require(addresses.length === 8, 'WRONG_ACCOUNT_COUNT')
  const [vault, source, destination, mint, program, payer, marker] = addresses as Seven
  require(bank.signers.has(vault), 'VAULT_DID_NOT_SIGN')
  require(bank.signers.has(payer), 'PAYER_DID_NOT_SIGN')
  const [amount, fillDeadline, rent] = [u64At(data, 34), i64At(data, 42), u64At(data, 50)]
  require(bank.environment.seconds <= fillDeadline, 'TOO_LATE')
  const seeds = [bytesOf(vault), data.subarray(2, 34), data.subarray(1, 2)]
  require(isDerived(bank, marker, seeds), 'WRONG_MARKER')
  require(read(bank, marker).owner === SYSTEM_PROGRAM, 'ALREADY_DELIVERED')
  if (!addresses.includes(SYSTEM_PROGRAM)) refuse()
  const missing = rent - read(bank, marker).lamports
  if (missing > 0n) transferLamports(bank, { from: payer, to: marker, amount: missing, signer: marker })
  const owner = bank.environment.program
  createAccount(bank, { address: marker, bytes: MARKER_BYTES, owner, signer: marker })
  const native = program === SYSTEM_PROGRAM
  require(native || isTokenProgram(program), 'WRONG_TOKEN_PROGRAM')
  const recipient = native ? bytesOf(destination) : read(bank, destination).data.slice(32, 64)
  const paid = native ? SYSTEM_PROGRAM : mint
  const record = [bytesOf(payer), data.subarray(42, 50), data.subarray(34, 42), bytesOf(paid), recipient]
  write(bank, marker, { data: Uint8Array.from(Buffer.concat(record)) })
  if (native) transferLamports(bank, { from: vault, to: destination, amount, signer: marker })
  else transferTokens(bank, { program, source, mint, destination, authority: vault, amount, signer: marker })
}

function sweep(bank: Bank, addresses: Address[], data: Uint8Array): void {
  require(data[0] === 5, 'WRONG_DATA')
  require(addresses.length === 2, 'WRONG_ACCOUNT_COUNT')
  const [marker, payer] = addresses as [Address, Address]
  const { owner, data: record, lamports } = read(bank, marker)
  require(owner === bank.environment.program, 'NOT_A_MARKER')
  require(hasKey(record, 0, payer), 'WRONG_PAYER')
  require(bank.environment.seconds - SWEEP_MARGIN_SECONDS > i64At(record, 32), 'NOT_SWEEPABLE')
  // No delivery names the marker as its own payer, which cannot sign. Its lamports would stay.
  if (marker === payer) return
  if (!bank.writable.has(marker) || !bank.writable.has(payer)) refuse()
  write(bank, marker, { lamports: 0n })
  write(bank, payer, { lamports: read(bank, payer).lamports + lamports })
}

type Seven = [Address, Address, Address, Address, Address, Address, Address]

/** The check of our program alone; the token program looks closer. */
function looksHeldBy({ owner, data }: Held, program: Address, holder: Uint8Array): boolean {
  return owner === program && data.length >= 165 && Buffer.compare(data.subarray(32, 64), holder) === 0
}

/** Addresses on the curve are not told apart: no account of the fuzzer has one that a hash could meet. */
function isDerived({ environment }: Bank, address: Address, seeds: readonly Uint8Array[]): boolean {
  const hash = createHash('sha256')
  for (const seed of seeds) hash.update(seed)
  const derived = hash.update(bytesOf(environment.program)).update('ProgramDerivedAddress').digest()
  return derived.equals(bytesOf(address))
}

function u64At(bytes: Uint8Array, offset: number): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(offset, true)
}

function i64At(bytes: Uint8Array, offset: number): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(offset, true)
}
