import type { Address } from '@solana/kit'
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/terms.ts'
import { hasKey } from '../transaction.ts'
import { addLamports, type Bank, type Held, NOTHING, read, refuse, write } from './bank.ts'

/** `signer` is the address for which our program signs. */
type Signed = { signer: Address }

function demand(condition: boolean): void {
  if (!condition) refuse()
}

function demandWritable(bank: Bank, ...addresses: Address[]): void {
  demand(addresses.every((address) => bank.writable.has(address)))
}

function demandSigned(bank: Bank, address: Address, { signer }: Signed): void {
  demand(bank.signers.has(address) || address === signer)
}

type Lamports = Signed & { from: Address; to: Address; amount: bigint }

export function transferLamports(bank: Bank, { from, to, amount, signer }: Lamports): void {
  demandWritable(bank, from, to)
  demandSigned(bank, from, { signer })
  const source = read(bank, from)
  demand(source.data.length === 0 && source.lamports >= amount)
  demand(amount === 0n || source.owner === SYSTEM_PROGRAM)
  addLamports(bank, from, -amount)
  addLamports(bank, to, amount)
}

type Creation = Signed & { address: Address; bytes: number; owner: Address }

/** Allocate and assign. */
export function createAccount(bank: Bank, { address, bytes, owner, signer }: Creation): void {
  demandWritable(bank, address)
  demandSigned(bank, address, { signer })
  const account = read(bank, address)
  demand(account.owner === SYSTEM_PROGRAM && account.data.length === 0)
  write(bank, address, { data: new Uint8Array(bytes), owner })
}

type TokenAccount = { data: Uint8Array; amount: bigint; isFrozen: boolean; isNative: boolean }

const MINT = 0
const OWNER = 32
const CLOSE_AUTHORITY = 133
const ACCOUNT_BYTES = 165
const MINT_BYTES = 82
const MULTISIG_BYTES = 355

function hasForm(data: Uint8Array, program: Address, { bytes, type }: { bytes: number; type: number }) {
  if (data.length === bytes) return true
  const isExtended = program === TOKEN_2022_PROGRAM && data.length > ACCOUNT_BYTES
  return isExtended && data.length !== MULTISIG_BYTES && data[ACCOUNT_BYTES] === type
}

function getTokenAccount(bank: Bank, address: Address, program: Address): TokenAccount {
  const { owner, data } = read(bank, address)
  demand(owner === program && hasForm(data, program, { bytes: ACCOUNT_BYTES, type: 2 }))
  const state = data[108]
  demand(state === 1 || state === 2)
  const view = new DataView(data.buffer, data.byteOffset)
  const isNative = view.getUint32(109, true) === 1
  return { data, amount: view.getBigUint64(64, true), isFrozen: state === 2, isNative }
}

function mayClose({ data }: TokenAccount, authority: Address): boolean {
  const hasCloser = new DataView(data.buffer, data.byteOffset).getUint32(129, true) === 1
  return hasKey(data, hasCloser ? CLOSE_AUTHORITY : OWNER, authority)
}

function isMint({ owner, data }: Held, program: Address): boolean {
  return owner === program && hasForm(data, program, { bytes: MINT_BYTES, type: 1 }) && data[45] === 1
}

export function isTokenProgram(program: Address): boolean {
  return program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM
}

type Tokens = Signed & {
  program: Address
  source: Address
  mint: Address
  destination: Address
  authority: Address
  amount: bigint
}

/** TransferChecked with the mint's own decimals. */
export function transferTokens(bank: Bank, transfer: Tokens): void {
  const { program, source, mint, destination, authority, amount, signer } = transfer
  demandWritable(bank, source, destination)
  demandSigned(bank, authority, { signer })
  const from = getTokenAccount(bank, source, program)
  const to = getTokenAccount(bank, destination, program)
  demand(!from.isFrozen && !to.isFrozen && from.amount >= amount)
  demand(hasKey(from.data, OWNER, authority))
  demand(hasKey(from.data, MINT, mint) && hasKey(to.data, MINT, mint))
  demand(isMint(read(bank, mint), program))
  addTokens(bank, source, -amount)
  addTokens(bank, destination, amount)
  if (!from.isNative) return
  addLamports(bank, source, -amount)
  addLamports(bank, destination, amount)
}

function addTokens(bank: Bank, address: Address, amount: bigint): void {
  const data = read(bank, address).data.slice()
  const view = new DataView(data.buffer)
  view.setBigUint64(64, view.getBigUint64(64, true) + amount, true)
  write(bank, address, { data })
}

type Closing = Signed & { program: Address; source: Address; destination: Address; authority: Address }

export function closeAccount(bank: Bank, closing: Closing): void {
  const { program, source, destination, authority, signer } = closing
  demandWritable(bank, source, destination)
  demandSigned(bank, authority, { signer })
  const account = getTokenAccount(bank, source, program)
  demand(source !== destination && (account.isNative || account.amount === 0n))
  demand(mayClose(account, authority))
  addLamports(bank, destination, read(bank, source).lamports)
  write(bank, source, NOTHING)
}
