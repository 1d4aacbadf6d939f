import type { Pool } from 'pg'
import type { CustodyChain, CustodyEvent } from '../chains/custody.ts'
import { isPurchase } from '../model/venue.ts'
import {
  findBooked,
  findBookedLocks,
  findOpRecords,
  type NewMovement,
  type OpRecord,
} from '../store/ledger.ts'
import { findWithdrawalTxs } from '../store/treasury-moves.ts'
import { type Explained, transfersOf } from './transfers.ts'

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
  const left = fresh.flatMap((event) => (event.kind === 'left' ? event.txHash : []))
  const [records, lockedBefore, withdrawals] = await Promise.all([
    findOpRecords(pool, names),
    findBookedLocks(pool, names),
    findWithdrawalTxs(pool, chain.chainId, left),
  ])
  const byName = indexByName(records)
  const locks = new Map(lockedBefore)
  const explained: Explained[] = []
  for (const event of fresh) {
    const name = nameOf(event)
    const op = name === undefined ? undefined : byName.get(name)
    const lock = name === undefined ? undefined : locks.get(name)
    const isWithdrawal = withdrawals.has(event.txHash)
    const each = {
      event,
      isWithdrawal,
      ...(lock && { lock }),
      ...(op && { op }),
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
  return { isOurLock, ...(paid && { paid }) }
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
    ...(opHash && { opHash }),
    ...(op?.swapId && { swapId: op.swapId }),
  }))
}
