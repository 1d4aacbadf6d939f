import type { PoolClient } from 'pg'
import type { Held } from '../chains/custody.ts'
import { type LedgerAccount, steadyPart } from '../model/ledger.ts'
import {
  findUnbookedDeliveries,
  insertMovements,
  type NewMovement,
  readLedgerBalances,
  sumHeldInputs,
} from '../store/ledger.ts'
import type { Drift } from './drift.ts'
import { restOf } from './transfers.ts'

// A difference counts when this many readings in a row show it: a node may index a transaction late.
const READINGS = 3

/** What the last readings showed. A process that begins anew begins to count anew. */
export type Memory = {
  /** By place and token, oldest first. */
  differences: ReadonlyMap<string, readonly bigint[]>
  /** How often in a row. */
  doubts: ReadonlyMap<string, number>
}

export function createMemory(): Memory {
  return { differences: new Map(), doubts: new Map() }
}

type Counted = { chainId: number; block: bigint; balances: readonly Held[] }

/** Books the part of each difference between chain and books that lasted. */
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
    movements.push(toMovement(steady > 0n ? 'surplus' : 'shortfall', { part, block }, held, steady))
  }
  await insertMovements(db, chainId, movements)
  const drifts = movements
    .filter(({ kind }) => kind === 'shortfall')
    .map(({ token, amount }): Drift => ({ why: 'less is held than the books say', token, amount }))
  return { differences, drifts }
}

/** Swaps that the chain has to have something for, by their own rows. */
export type Expected = { held: readonly string[]; delivered: readonly string[] }

/** What the swaps say against what is held, whatever the books say. */
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
      ...{ why: 'a delivery that was recorded is not on the chain', token, swapId: id },
    })),
  ]
}

/** The doubts that have lasted long enough now, and how long each has. */
export function lasting(memory: Memory, doubts: readonly Drift[]) {
  const counts = new Map(doubts.map((doubt) => [nameOf(doubt), (memory.doubts.get(nameOf(doubt)) ?? 0) + 1]))
  return { counts, drifts: doubts.filter((doubt) => counts.get(nameOf(doubt)) === READINGS) }
}

const nameOf = ({ why, token, swapId }: Drift) => `${why} ${token} ${swapId}`

/** What a place holds, in the words of the books. */
function accountsOf({ place }: Held): LedgerAccount[] {
  return place === 'escrow' ? ['locked', 'owed', 'spare'] : ['inventory']
}

type At = { part: number; block: bigint }

export function toMovement(
  kind: 'opening' | 'surplus' | 'shortfall',
  { part, block }: At,
  held: Held,
  by: bigint,
): NewMovement {
  const rest = restOf(held.place)
  const counted = { source: `block ${block}`, part, block, kind, token: held.token }
  if (by < 0n) return { ...counted, amount: -by, debit: rest, credit: 'unexplained' }
  return { ...counted, amount: by, debit: 'outside', credit: rest }
}
