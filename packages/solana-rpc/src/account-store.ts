import { type Address, address, lamports } from '@solana/kit'
import type { LiteSVM } from 'litesvm'
import { findTokenAccount } from './token-layout.ts'

export type Account = { lamports: bigint; data: Uint8Array; owner: Address; executable: boolean }
type Version = { slot: number; account: Account | undefined }
type Index = Map<Address, Set<Address>>

/**
 * Accounts as of any slot from the finalized one on. The runtime holds only the newest state, so each change
 * keeps the previous version until its slot is finalized.
 */
export type AccountStore = {
  svm: LiteSVM
  versions: Map<Address, Version[]>
  changedIn: Map<number, Set<Address>>
  byProgram: Index
  byTokenOwner: Index
  byMint: Index
  programSizes: Map<Address, number>
}

const SYSTEM_PROGRAM = address('11111111111111111111111111111111')
const ABSENT: Account = { lamports: 0n, data: new Uint8Array(), owner: SYSTEM_PROGRAM, executable: false }
// The state before the first recorded change: older than every slot.
const BEFORE_HISTORY = -1

export function createAccountStore(svm: LiteSVM): AccountStore {
  const [byProgram, byTokenOwner, byMint] = [new Map(), new Map(), new Map()]
  const sets = { byProgram, byTokenOwner, byMint }
  return { svm, versions: new Map(), changedIn: new Map(), ...sets, programSizes: new Map() }
}

export function findNewest(store: AccountStore, target: Address): Account | undefined {
  const found = store.svm.getAccount(target)
  if (!found.exists) return undefined
  const { data, executable, programAddress: owner } = found
  return { lamports: found.lamports, data: new Uint8Array(data), owner, executable }
}

/** The size of an account's data. Programs are large and never change: measured once. */
export function sizeOf(store: AccountStore, target: Address): number {
  const known = store.programSizes.get(target)
  if (known !== undefined) return known
  const account = findNewest(store, target)
  const size = account?.data.length ?? 0
  if (account?.executable) store.programSizes.set(target, size)
  return size
}

/** The account as it was at the end of `slot`, for any slot from the finalized one on. */
export function findAt(store: AccountStore, query: { address: Address; slot: number }): Account | undefined {
  const history = store.versions.get(query.address)
  if (!history) return findNewest(store, query.address)
  return history.findLast((version) => version.slot <= query.slot)?.account
}

export function hasChangedAfter(store: AccountStore, query: { address: Address; slot: number }): boolean {
  return (store.versions.get(query.address)?.at(-1)?.slot ?? BEFORE_HISTORY) > query.slot
}

/** Overwrites only the runtime's newest state: no version is kept. */
export function putNewest(store: AccountStore, target: Address, account: Account = ABSENT): void {
  const { data, executable, owner } = account
  const held = { address: target, lamports: lamports(account.lamports), programAddress: owner }
  store.svm.setAccount({ ...held, data, executable, space: BigInt(data.length) })
}

/** Keeps the previous version after the runtime has changed an account in `slot`. */
export function recordChange(
  store: AccountStore,
  change: { address: Address; slot: number; before: Account | undefined },
): void {
  const { address: changed, slot, before } = change
  const history = store.versions.get(changed) ?? [{ slot: BEFORE_HISTORY, account: before }]
  const account = findNewest(store, changed)
  const newest = history.at(-1)
  if (newest?.slot === slot) newest.account = account
  else history.push({ slot, account })
  store.versions.set(changed, history)
  addTo(store.changedIn, slot, changed)
  if (account) indexAccount(store, changed, account)
}

/** Drops versions that only readers of earlier slots would need. */
export function finalizeChanges(store: AccountStore, slot: number): void {
  for (const changed of store.changedIn.get(slot) ?? []) {
    const history = store.versions.get(changed) ?? []
    while ((history[1]?.slot ?? Number.POSITIVE_INFINITY) <= slot) history.shift()
    // A single finalized version equals the runtime's state.
    if (history.length <= 1) store.versions.delete(changed)
  }
  store.changedIn.delete(slot)
}

/** Every account that this program owns or has owned. */
export function everOwnedBy(store: AccountStore, program: Address): Address[] {
  const owned = store.svm.getProgramAccounts(program).map((account) => account.address)
  return [...new Set([...owned, ...(store.byProgram.get(program) ?? [])])]
}

// Entries are never removed: a reader at an older slot must still find an account that has a new owner.
function indexAccount(store: AccountStore, at: Address, account: Account): void {
  addTo(store.byProgram, account.owner, at)
  const token = findTokenAccount(account)
  if (!token) return
  addTo(store.byTokenOwner, token.owner, at)
  addTo(store.byMint, token.mint, at)
}

function addTo<Key>(index: Map<Key, Set<Address>>, key: Key, value: Address): void {
  const members = index.get(key)
  if (members) members.add(value)
  else index.set(key, new Set([value]))
}
