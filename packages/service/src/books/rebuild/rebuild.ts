import type { Block } from '../../chains/chain.ts'
import { mapOwn } from '../../isolate.ts'
import { listSenders } from '../../store/attempts.ts'
import { oldestOpenBlock } from '../../store/chain-events.ts'
import type { SpentCap } from '../../store/claim-books.ts'
import { inTransaction } from '../../store/db.ts'
import { findLedgerCursor, findOpRecords } from '../../store/ledger.ts'
import { isDatabaseInUse } from '../../store/rebuild.ts'
import { longestLife } from '../../swap/deadlines.ts'
import { applyAll, type Summary } from './apply.ts'
import {
  addFacts,
  collectEvents,
  createFacts,
  type Facts,
  type RebuildChain,
  type RebuildDeps,
  type SenderNonce,
} from './facts.ts'
import { completeUnknown, type Unknown } from './unknown.ts'

/**
 * Updates a database that lost rows, or has none, from the chains: all locks, deliveries, claims and refunds since.
 * Reads first, then writes everything in one transaction. Signs and sends nothing.
 * See docs/decisions.md#only-the-chains-are-believed.
 */
export async function rebuild(deps: RebuildDeps): Promise<Summary> {
  if (await isDatabaseInUse(deps.pool)) {
    throw new Error(
      'This database is in use. Stop every process of the service and try again in some seconds.',
    )
  }
  await awaitExpiry(deps)
  const facts = createFacts()
  const hards = new Map<number, Block>()
  for (const { chain, custody } of deps.chains) {
    const { chainId } = chain
    const { hard } = await chain.readHeads()
    const after = await startOf(deps, chainId)
    deps.say(`chain ${chainId}: reading from block ${after}`)
    const senders = await listSenders(deps.pool, chainId)
    addFacts(facts, chainId, await collectEvents(custody, { after, hard, senders }))
    hards.set(chainId, hard)
  }
  const unknown = await readUnknown(deps, facts)
  const nonces = await readNonces(deps)
  const spent = await readSpent(deps)
  return inTransaction(deps.pool, (db) => applyAll(deps, db, { facts, ...unknown, nonces, spent, hards }))
}

/** The database has everything before this block. */
async function startOf({ pool, firstBlocks }: RebuildDeps, chainId: number): Promise<bigint> {
  const asked = firstBlocks.get(chainId)
  if (asked !== undefined) return asked
  const cursor = await findLedgerCursor(pool, chainId)
  if (!cursor) return 0n
  const oldest = (await oldestOpenBlock(pool, chainId)) ?? cursor.block
  return oldest < cursor.block ? oldest : cursor.block
}

/** Our ops found on a chain but missing here, and stored ops that were submitted since. */
async function readUnknown(deps: RebuildDeps, facts: Facts) {
  const records = await findOpRecords(deps.pool, [...facts.locks.keys()])
  const known = new Map(records.map((record) => [record.hash, record]))
  const missing = [...facts.locks].filter(([hash]) => !known.has(hash))
  const unknown: Unknown[] = []
  const unreadable: string[] = []
  let foreign = 0
  for (const [hash, locked] of missing) {
    const found = await readOne(deps, facts, hash)
    if (found === 'foreign') foreign += 1
    else if (found === undefined) unreadable.push(locked.txHash)
    else if (found !== 'old') unknown.push(found)
  }
  if (foreign > 0) deps.say(`${foreign} inputs were left out: no configured key locked them`)
  const forgotten = records
    .filter(({ hash, swapId }) => !swapId && facts.locks.has(hash))
    .map(({ hash }) => hash)
  return { unknown, forgotten, unreadable }
}

/** `foreign`: locked by others, who may write what they like. */
async function readOne(
  deps: RebuildDeps,
  facts: Facts,
  hash: string,
): Promise<Unknown | 'old' | 'foreign' | undefined> {
  const locked = facts.locks.get(hash)
  if (!locked) return undefined
  const [claimed, refunded] = [facts.claims.get(hash), facts.refunds.get(hash)]
  const cursor = await findLedgerCursor(deps.pool, locked.chainId)
  const isBooked = cursor !== undefined && locked.block > cursor.block
  // Ended, and before the start of the books: no row is needed.
  if ((claimed || refunded) && !isBooked) return 'old'
  const { custody, recovery } = chainOf(deps, locked.chainId)
  if (!(await custody.isOurLock(locked.txHash))) return 'foreign'
  const lock = await recovery.findLockTerms(locked.txHash, hash)
  if (!lock) return undefined
  const delivered = facts.deliveries.get(lock.deliveryHash)
  const delivery =
    delivered &&
    (await chainOf(deps, delivered.chainId).recovery.findDeliveryTerms(delivered.txHash, lock.deliveryHash))
  return completeUnknown(deps, {
    hash,
    originChain: locked.chainId,
    locked,
    lock,
    claimed,
    refunded,
    delivered,
    delivery,
  })
}

function chainOf({ chains }: RebuildDeps, chainId: number): RebuildChain {
  const found = chains.find(({ chain }) => chain.chainId === chainId)
  if (!found) throw new Error(`Chain ${chainId} is not configured`)
  return found
}

/** Claims of the current hour, those of unknown swaps included. */
async function readSpent({ chains }: RebuildDeps): Promise<SpentCap[]> {
  const spent: SpentCap[] = []
  for (const { chain, readClaimed } of chains) {
    const claimed = await readClaimed()
    const { head } = await chain.readHeads()
    for (const { token, amount } of claimed)
      spent.push({ chainId: chain.chainId, token, amount, seconds: head.seconds })
  }
  return spent
}

async function readNonces({ chains }: RebuildDeps): Promise<SenderNonce[]> {
  const nonces: SenderNonce[] = []
  for (const { recovery, senders } of chains) {
    for (const address of senders) {
      const atLeast = await recovery.readNextNonce?.(address)
      if (atLeast !== undefined) nonces.push({ chainId: recovery.chainId, address, atLeast })
    }
  }
  return nonces
}

type WaitingChain = { chain: RebuildChain['chain']; isExpired(hard: Block): boolean }

/**
 * Waits until no earlier signature can take an input or be sent any more. Waits for all chains in parallel, so that the
 * slowest determines the duration.
 */
export async function awaitExpiry(
  deps: Pick<RebuildDeps, 'deadlines' | 'wait' | 'say'> & {
    chains: readonly Pick<RebuildChain, 'chain' | 'recovery'>[]
  },
): Promise<void> {
  let waiting = await mapOwn(deps.chains, (each) => findEnd(each, deps))
  for (;;) {
    const seen = await mapOwn(waiting, async (each) => ({
      each,
      isExpired: each.isExpired((await each.chain.readHeads()).hard),
    }))
    waiting = seen.filter(({ isExpired }) => !isExpired).map(({ each }) => each)
    if (waiting.length === 0) return
    await deps.wait()
  }
}

type Ending = Pick<RebuildDeps, 'deadlines' | 'say'>

async function findEnd(
  { chain, recovery }: Pick<RebuildChain, 'chain' | 'recovery'>,
  { deadlines, say }: Ending,
): Promise<WaitingChain> {
  const { head } = await chain.readHeads()
  const height = recovery.expiryOf?.(head)
  // A lock that was sent can land as long as its op lives, and that of a deposit lives longest.
  const { opLifeSeconds, lockInclusionSeconds } = chain.ways ? longestLife(deadlines) : deadlines
  const seconds = head.seconds + opLifeSeconds + lockInclusionSeconds
  const end = height === undefined ? new Date(seconds * 1_000).toISOString() : `height ${height}`
  say(`chain ${chain.chainId}: waiting until ${end} is final`)
  return {
    chain,
    isExpired: (hard) => (height === undefined ? hard.seconds > seconds : hard.height > height),
  }
}
