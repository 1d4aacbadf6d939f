import { createHash } from 'node:crypto'
import { hashDelivery } from '@geoswap/protocol'
import type { Address } from '@solana/kit'
import { MARKER_BYTES, SWEEP_MARGIN_SECONDS } from '../../src/accounts.ts'
import { type EscrowErrorName, escrowErrors } from '../../src/decode-instruction.ts'
import { type OpId, SYSTEM_PROGRAM } from '../../src/terms.ts'
import { derive } from '../derive.ts'
import { bytesOf, hasKey } from '../transaction.ts'
import {
  assertRentPaid,
  type Bank,
  type Call,
  type Environment,
  type Held,
  openBank,
  Refusal,
  read,
  refuse,
  type State,
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
  const kinds: Readonly<Record<number, typeof sweep>> = { 1: sweep, 209: deliver, 178: payOut }
  const run = kinds[data.length]
  require(run !== undefined, 'WRONG_DATA')
  run(bank, addresses, data)
}

function payOut(bank: Bank, addresses: Address[], data: Uint8Array): void {
  const tag = data[0] ?? 0
  require(tag <= 3, 'WRONG_DATA')
  const isClaim = (tag & 1) === 1
  const keepsRent = (tag & 2) === 2
  require(addresses.length === (isClaim ? 8 : 7), 'WRONG_ACCOUNT_COUNT')
  const [authority, source, destination, mint, program, rentReceiver, attester, rest] = addresses as Eight
  const terms = data.subarray(2)
  const seeds = [createHash('sha256').update(terms).digest(), data.subarray(1, 2)]
  require(isDerived(bank, authority, seeds), 'WRONG_AUTHORITY')
  require(hasKey(terms, 96, rentReceiver), 'WRONG_RENT_RECEIVER')
  require(isTokenProgram(program), 'WRONG_TOKEN_PROGRAM')
  require(looksHeldBy(read(bank, source), program, bytesOf(authority)), 'WRONG_SOURCE')
  const isAttested = bank.signers.has(attester) && hasKey(terms, 64, attester)
  require(isAttested || !isClaim, 'NOT_ATTESTED')
  require(isAttested || bank.environment.seconds > i64At(terms, 160), 'TOO_EARLY')
  const isByWallet = bank.signers.has(attester) && hasKey(terms, 0, attester)
  require(isAttested || !keepsRent || isByWallet, 'RENT_KEPT_UNSIGNED')
  const receiver = isClaim ? terms.subarray(32, 64) : terms.subarray(0, 32)
  const held = read(bank, source).data
  const amount = isClaim ? u64At(terms, 168) : u64At(held, 64)
  const left = u64At(held, 64) - amount
  const wallet = terms.subarray(0, 32)
  const signed = { signer: authority, program, source, authority }
  if (new DataView(held.buffer, held.byteOffset).getUint32(109, true) !== 1) {
    require(looksHeldBy(read(bank, destination), program, receiver), 'WRONG_DESTINATION')
    transferTokens(bank, { ...signed, mint, destination, amount })
    if (keepsRent) return
    // The vault may be paid into the source itself, whose balance then stays.
    const remaining = u64At(read(bank, source).data, 64)
    if (remaining > 0n) {
      require(isClaim && looksHeldBy(read(bank, rest), program, wallet), 'WRONG_DESTINATION')
      transferTokens(bank, { ...signed, mint, destination: rest, amount: remaining })
    }
    closeAccount(bank, { ...signed, destination: rentReceiver })
    return
  }
  require(hasKey(receiver, 0, destination), 'WRONG_DESTINATION')
  require(left >= 0n, 'WRONG_SOURCE')
  if (!addresses.includes(SYSTEM_PROGRAM)) refuse()
  closeAccount(bank, { ...signed, destination: authority })
  transferLamports(bank, { from: authority, to: destination, amount, signer: authority })
  if (keepsRent) return
  if (left > 0n) {
    require(hasKey(wallet, 0, rest), 'WRONG_DESTINATION')
    transferLamports(bank, { from: authority, to: rest, amount: left, signer: authority })
  }
  const rent = read(bank, authority).lamports
  transferLamports(bank, { from: authority, to: rentReceiver, amount: rent, signer: authority })
}

function deliver(bank: Bank, addresses: Address[], data: Uint8Array): void {
  require(data[0] === 4, 'WRONG_DATA')
  require(addresses.length === 8, 'WRONG_ACCOUNT_COUNT')
  const [vault, source, destination, mint, program, payer, marker] = addresses as Seven
  require(bank.signers.has(vault), 'VAULT_DID_NOT_SIGN')
  require(bank.signers.has(payer), 'PAYER_DID_NOT_SIGN')
  const native = program === SYSTEM_PROGRAM
  require(native || isTokenProgram(program), 'WRONG_TOKEN_PROGRAM')
  const paid = native ? SYSTEM_PROGRAM : mint
  const recipient = native ? bytesOf(destination) : ownerIn(read(bank, destination))
  const opId = hashOf(data, [bytesOf(vault), bytesOf(paid), recipient])
  require(Buffer.compare(data.subarray(1, 33), opId) === 0, 'WRONG_OP')
  const [amount, rent] = [u64At(data, 193), u64At(data, 201)]
  require(amount >= wordAt(data, 129), 'TOO_LITTLE')
  const fillDeadline = BigInt.asIntN(64, wordAt(data, 161))
  require(bank.environment.seconds <= fillDeadline, 'TOO_LATE')
  require(isFirst(bank, marker, [bytesOf(vault), opId]), 'WRONG_MARKER')
  require(read(bank, marker).owner === SYSTEM_PROGRAM, 'ALREADY_DELIVERED')
  if (!addresses.includes(SYSTEM_PROGRAM)) refuse()
  const missing = rent - read(bank, marker).lamports
  if (missing > 0n) transferLamports(bank, { from: payer, to: marker, amount: missing, signer: marker })
  const owner = bank.environment.program
  createAccount(bank, { address: marker, bytes: MARKER_BYTES, owner, signer: marker })
  const deadline = new Uint8Array(new BigInt64Array([fillDeadline]).buffer)
  const record = [bytesOf(payer), deadline, data.subarray(193, 201), bytesOf(paid), recipient]
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
type Eight = [...Seven, Address]

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

const firsts = new Map<string, Uint8Array>()

/** Whether the address is the one of the first bump that gives an address off the curve. */
function isFirst({ environment }: Bank, address: Address, [vault, opId]: [Uint8Array, Uint8Array]): boolean {
  const key = Buffer.concat([bytesOf(environment.program), vault, opId]).toString('latin1')
  const known = firsts.get(key) ?? bytesOf(derive(environment.program, [vault, opId]).next().value as Address)
  firsts.set(key, known)
  return Buffer.compare(known, bytesOf(address)) === 0
}

/** As in memory: an account that ends before its owner is followed by zeros. */
function ownerIn({ data }: Held): Uint8Array {
  const owner = new Uint8Array(32)
  owner.set(data.subarray(32, 64))
  return owner
}

const hashes = new Map<string, Uint8Array>()

/** The hash of a delivery: ring, index and chain, then vault, mint, least amount, recipient and deadline. */
function hashOf(
  data: Uint8Array,
  [vault, mint, recipient]: [Uint8Array, Uint8Array, Uint8Array],
): Uint8Array {
  const key = Buffer.concat([data.subarray(33, 193), vault, mint, recipient]).toString('latin1')
  const known = hashes.get(key)
  if (known) return known
  const hex = (bytes: Uint8Array): OpId => `0x${Buffer.from(bytes).toString('hex')}`
  const hash = hashDelivery({
    ring: hex(data.subarray(33, 65)),
    index: wordAt(data, 65),
    destinationChain: wordAt(data, 97),
    ...{ vault: hex(vault), outputToken: hex(mint), minOutput: wordAt(data, 129) },
    ...{ recipient: hex(recipient), fillDeadline: wordAt(data, 161) },
  })
  const bytes = Uint8Array.from(Buffer.from(hash.slice(2), 'hex'))
  hashes.set(key, bytes)
  return bytes
}

/** A number of 32 bytes, the highest first. */
function wordAt(bytes: Uint8Array, offset: number): bigint {
  return BigInt(`0x${Buffer.from(bytes.subarray(offset, offset + 32)).toString('hex')}`)
}

function u64At(bytes: Uint8Array, offset: number): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(offset, true)
}

function i64At(bytes: Uint8Array, offset: number): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(offset, true)
}
