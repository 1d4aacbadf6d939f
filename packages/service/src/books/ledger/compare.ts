import type { PoolClient } from 'pg'
import type { Held } from '../../chains/custody.ts'
import {
  findUnbookedDeliveries,
  insertMovements,
  type NewMovement,
  readLedgerBalances,
  sumHeldInputs,
} from '../../store/ledger.ts'
import { type LedgerAccount, steadyPart } from '../../swap/books.ts'
import { restOf } from './explain.ts'

/** A disagreement between the chain and the books or the swaps. Without a token it concerns the whole chain. */
export type Drift = { why: string; token?: string; amount?: bigint; txHash?: string; swapId?: string }

/** Ends by itself once the missing amount is back. Every other drift needs an operator. */
export const LESS_HELD = 'less is held than the books say'

export function describeDrift({ why, amount, token, txHash, swapId }: Drift): string {
  const what = amount === undefined ? '' : `: ${amount} of ${token}`
  return `${why}${what}${txHash ? ` in ${txHash}` : ''}${swapId ? ` of ${swapId}` : ''}`
}

// A difference counts after this many readings in a row: a node may index a transaction late.
const READINGS = 3

/** Results of the last readings. A restarted process starts counting again. */
export type Memory = {
  /** By place and token, oldest first. */
  differences: ReadonlyMap<string, readonly bigint[]>
  /** Consecutive readings per doubt. */
  doubts: ReadonlyMap<string, number>
}

export function createMemory(): Memory {
  return { differences: new Map(), doubts: new Map() }
}

type Counted = { chainId: number; block: bigint; balances: readonly Held[] }

/** Books the lasting part of each difference between chain and books. */
export async function compareBalances(db: PoolClient, memory: Memory, { chainId, block, balances }: Counted) {
  const booked = await readLedgerBalances(db, chainId)
  const amountOf = (token: string, account: LedgerAccount) =>
    booked.find((each) => each.token === token && each.account === account)?.amount ?? 0n
  const differences = new Map<string, readonly bigint[]>()
  const movements: NewMovement[] = []
  for (const [part, held] of balances.entries()) {
    const name = `${held.place}:${held.token}`
    const expected = accountsOf(held).reduce((sum, account) => sum + amountOf(held.token, account), 0n)
    const latest = [...(memory.differences.get(name) ?? []), held.amount - expected].slice(-READINGS)
    const steady = latest.length < READINGS ? 0n : steadyPart(latest)
    differences.set(
      name,
      latest.map((difference) => difference - steady),
    )
    if (steady === 0n) continue
    const rest = { spare: amountOf(held.token, 'spare'), missing: amountOf(held.token, 'unexplained') }
    movements.push(...explainDifference(steady, rest, { part: part * 2, block }, held))
  }
  await insertMovements(db, chainId, movements)
  const drifts = movements
    .filter(({ kind }) => kind === 'shortfall')
    .map(({ token, amount }): Drift => ({ why: LESS_HELD, token, amount }))
  const mended = movements.filter(({ kind }) => kind === 'returned').map(({ token }) => token)
  return { differences, drifts, mended }
}

/**
 * Classifies a lasting difference. A surplus first covers an earlier shortfall. Third parties can withdraw their own
 * balance from the escrow: only a shortfall beyond it is missing.
 */
function explainDifference(
  difference: bigint,
  { spare, missing }: { spare: bigint; missing: bigint },
  { part, block }: At,
  held: Held,
): NewMovement[] {
  const isMore = difference > 0n
  const size = isMore ? difference : -difference
  const first = least(size, isMore ? missing : held.place === 'escrow' ? spare : 0n)
  const book = (kind: Counting, at: number, amount: bigint) =>
    amount > 0n ? [toMovement(kind, { part: at, block }, held, amount)] : []
  return [
    ...book(isMore ? 'returned' : 'taken', part, first),
    ...book(isMore ? 'surplus' : 'shortfall', part + 1, size - first),
  ]
}

const least = (a: bigint, b: bigint) => (b <= 0n ? 0n : a < b ? a : b)

/** Swaps that need a balance or delivery on the chain, by their own rows. */
export type Expected = { held: readonly string[]; delivered: readonly string[] }

/** Contradictions between swaps and balances, independent of the books. */
export async function findDoubts(
  db: PoolClient,
  balances: readonly Held[],
  expected: Expected,
): Promise<Drift[]> {
  const escrow = balances.filter(({ place }) => place === 'escrow')
  const heldOf = (token: string) => escrow.find((held) => held.token === token)?.amount ?? 0n
  const inputs = await sumHeldInputs(db, expected.held)
  const unbooked = await findUnbookedDeliveries(db, expected.delivered)
  return [
    ...inputs
      .filter(({ token, amount }) => amount > heldOf(token))
      .map(({ token, amount }) => ({ why: 'inputs of open swaps are not all there', token, amount })),
    ...unbooked.map(({ id, token }) => ({
      why: 'a delivery that was recorded is not on the chain',
      token,
      swapId: id,
    })),
  ]
}

/** The doubts that have now lasted long enough, and the counts of all. */
export function findLasting(memory: Memory, doubts: readonly Drift[]) {
  const counts = new Map(doubts.map((doubt) => [nameOf(doubt), (memory.doubts.get(nameOf(doubt)) ?? 0) + 1]))
  return { counts, drifts: doubts.filter((doubt) => counts.get(nameOf(doubt)) === READINGS) }
}

const nameOf = ({ why, token, swapId }: Drift) => `${why} ${token} ${swapId}`

/** The ledger accounts of a place. */
function accountsOf({ place }: Held): LedgerAccount[] {
  return place === 'escrow' ? ['locked', 'owed', 'spare'] : ['inventory', 'integrators']
}

type At = { part: number; block: bigint }

/** `taken`: withdrawn by third parties from the escrow. `returned`: an earlier shortfall is back. */
type Counting = 'opening' | 'surplus' | 'shortfall' | 'taken' | 'returned'

export function toMovement(kind: Counting, { part, block }: At, held: Held, amount: bigint): NewMovement {
  const rest = restOf(held.place)
  const counted = { source: `block ${block}`, part, block, kind, token: held.token, amount }
  if (kind === 'shortfall') return { ...counted, debit: rest, credit: 'unexplained' }
  if (kind === 'taken') return { ...counted, debit: rest, credit: 'outside' }
  return { ...counted, debit: kind === 'returned' ? 'unexplained' : 'outside', credit: rest }
}
