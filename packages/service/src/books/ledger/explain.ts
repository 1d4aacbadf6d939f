import type { Pool } from 'pg'
import type { Custodian, CustodyChain, CustodyEvent, Paid } from '../../chains/custody.ts'
import { findWithdrawals, type Withdrawal } from '../../store/inventory.ts'
import {
  findBooked,
  findBookedLocks,
  findOpRecords,
  type NewMovement,
  type OpRecord,
} from '../../store/ledger.ts'
import { smallest } from '../../swap/amount.ts'
import type { LedgerAccount, Transfer } from '../../swap/books.ts'
import { isPurchase } from '../../swap/venue.ts'

/** The stored op of an event. */
export type KnownOp = Omit<OpRecord, 'deliveryHash'>

export type Explained = {
  event: CustodyEvent
  op?: KnownOp
  /** Token and amount of an unknown op, if the chain shows them. */
  paid?: Paid
  /** The amount that a purchase took from the vault, if the chain shows it. */
  sold?: bigint
  /** Set if it is a recorded withdrawal: a vault without a contract does not show who withdrew, and none what for. */
  withdrawal?: Withdrawal | undefined
  /** Whether one of our own keys sent this lock. */
  isOurLock?: boolean
  /** The booked lock of an exit: inputs locked before the opening are in `spare`. */
  lock?: Paid
}

/** The movements of an event. Empty if even the token is unknown, as of the ops of others: they are balance. */
export function transfersOf(explained: Explained): Transfer[] {
  const { event, op, paid } = explained
  const move = (debit: LedgerAccount, credit: LedgerAccount, of: Paid): Transfer[] => [
    { token: of.token, amount: of.amount, debit, credit },
  ]
  switch (event.kind) {
    case 'locked':
    case 'claimed':
    case 'refunded': {
      const input = inputOf(event, op) ?? explained.lock ?? paid
      if (!input) return []
      if (event.kind === 'locked') return move('wallet', 'locked', input)
      const held = explained.lock ? 'locked' : 'spare'
      if (event.kind === 'refunded') return move(held, 'wallet', input)
      const fee = smallest(op?.swapId ? op.integratorFee : 0n, input.amount)
      return [
        ...move(held, 'inventory', { ...input, amount: input.amount - fee }),
        ...(fee > 0n ? move(held, 'integrators', { ...input, amount: fee }) : []),
      ]
    }
    case 'delivered':
      return transfersOfDelivery(event, explained)
    case 'credited':
      return move(event.owner === 'vault' ? 'inventory' : 'wallet', 'owed', event)
    case 'creditPaid':
      return move('owed', event.to === 'vault' ? 'inventory' : event.to, event)
    case 'withdrawn':
      return explained.withdrawal === 'payout'
        ? move('integrators', 'outside', event)
        : move('inventory', 'treasury', event)
    case 'received':
      return move('outside', restOf(event.place), event)
    case 'left':
      if (explained.withdrawal === 'payout') return move('integrators', 'outside', event)
      return move(restOf(event.place), explained.withdrawal ? 'treasury' : 'unexplained', event)
    case 'spent':
      return move('gas', 'network', event)
    case 'rentPaid':
      return move('gas', 'rent', event)
    case 'rentReturned':
      return move('rent', 'gas', event)
  }
}

function inputOf(event: { token?: string; amount?: bigint }, op: KnownOp | undefined): Paid | undefined {
  const { token, amount } = event
  if (token !== undefined && amount !== undefined) return { token, amount }
  return op && { token: op.inputToken, amount: op.inputAmount }
}

type Delivered = Extract<CustodyEvent, { kind: 'delivered' }>

function transfersOfDelivery(event: Delivered, { op, paid, sold }: Explained): Transfer[] {
  const { amount } = event
  if (!op?.swapId) {
    const token = event.token ?? paid?.token
    return token === undefined ? [] : [{ token, amount, debit: 'inventory', credit: 'unexplained' }]
  }
  const token = event.token ?? (op.outputToken || paid?.token)
  if (token === undefined) return []
  if (!isPurchase(op)) return [{ token, amount, debit: 'inventory', credit: 'wallet' }]
  // If the chain does not show it, the whole reserved amount counts as spent, and the rest appears as received.
  const spent = { token: op.payToken, amount: sold ?? op.payAmount }
  return [
    { ...spent, debit: 'inventory', credit: 'market' },
    { token, amount, debit: 'market', credit: 'wallet' },
  ]
}

/** The account of a custodian that takes unexplained differences. */
export function restOf(custodian: Custodian): 'spare' | 'inventory' {
  return custodian === 'escrow' ? 'spare' : 'inventory'
}

/** The reason why an event needs an operator: money moved without a swap. */
export function suspicionOf({ event, op, isOurLock, withdrawal }: Explained): string | undefined {
  if (event.kind === 'left' && !withdrawal) return 'money left without a swap of ours'
  if (event.kind === 'locked' && isOurLock && !op?.swapId)
    return 'an input was locked that no swap here explains'
  if (event.kind === 'delivered' && !op?.swapId) return 'a delivery was made that no swap here explains'
  return undefined
}

// A purchase is two movements, every other event one.
const PARTS_PER_EVENT = 2

/**
 * All unbooked events, with the data that their movements follow from. Anyone can lock an op of their own: without a
 * booked lock it is part of the balance, and its calldata is not read.
 */
export async function explainNew(
  { pool, chain }: { pool: Pool; chain: CustodyChain },
  events: readonly CustodyEvent[],
): Promise<Explained[]> {
  if (events.length === 0) return []
  const booked = await findBooked(pool, chain.chainId, [...new Set(events.map(({ txHash }) => txHash))])
  const isBooked = new Set(booked.map(({ source, part }) => `${source}:${part}`))
  const fresh = events.filter(({ txHash, part }) => !isBooked.has(`${txHash}:${part * PARTS_PER_EVENT}`))
  const names = fresh.flatMap((event) => nameOf(event) ?? [])
  const left = fresh.flatMap(({ kind, txHash }) => (kind === 'left' || kind === 'withdrawn' ? txHash : []))
  const [records, lockedBefore, withdrawals] = await Promise.all([
    findOpRecords(pool, names),
    findBookedLocks(pool, names),
    findWithdrawals(pool, chain.chainId, left),
  ])
  const byName = indexByName(records)
  const locks = new Map(lockedBefore)
  const explained: Explained[] = []
  for (const event of fresh) {
    const name = nameOf(event)
    const op = name === undefined ? undefined : byName.get(name)
    const lock = name === undefined ? undefined : locks.get(name)
    const each = {
      event,
      withdrawal: withdrawals.get(event.txHash),
      lock,
      op,
      ...(await askChain(chain, event, op)),
    }
    explained.push(each)
    const [booked] = event.kind === 'locked' ? transfersOf(each) : []
    if (name !== undefined && booked) locks.set(name, booked)
  }
  return explained
}

function nameOf(event: CustodyEvent): string | undefined {
  if (event.kind === 'delivered') return event.delivery
  return 'op' in event ? event.op : undefined
}

/** On a chain without contracts, op and delivery have the same hash: the op wins. */
function indexByName(records: readonly OpRecord[]): Map<string, OpRecord> {
  const byDelivery = records.map((record) => [record.deliveryHash, record] as const)
  return new Map([...byDelivery, ...records.map((record) => [record.hash, record] as const)])
}

async function askChain(chain: CustodyChain, event: CustodyEvent, op: OpRecord | undefined) {
  if (event.kind === 'delivered' && op?.swapId && isPurchase(op)) {
    const sold = await chain.findSold(event.txHash, op.payToken)
    return sold === undefined ? {} : { sold }
  }
  const isOurLock = event.kind === 'locked' && !op?.swapId && (await chain.isOurLock(event.txHash))
  // Of an orphan, only the input is known.
  const isKnown = op !== undefined && (event.kind !== 'delivered' || op.outputToken !== '')
  const isTold = isKnown || ('token' in event && event.token !== undefined)
  const isOurs = isOurLock || event.kind === 'delivered'
  const paid = isTold || !isOurs ? undefined : await chain.findPaid(event)
  return { isOurLock, paid }
}

export function movementsOf(explained: Explained): NewMovement[] {
  const { event, op } = explained
  const opHash = op?.hash ?? nameOf(event)
  const moved = transfersOf(explained).filter(({ amount }) => amount > 0n)
  return moved.map((transfer, index) => ({
    ...transfer,
    source: event.txHash,
    part: event.part * PARTS_PER_EVENT + index,
    block: event.block,
    kind: event.kind,
    opHash: opHash || undefined,
    swapId: op?.swapId || undefined,
  }))
}
