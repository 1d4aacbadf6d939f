import type { Pool } from 'pg'
import type { Block, Chain, Delivered, Landed, Refunded } from '../../chains/chain.ts'
import type { CustodyChain, CustodyEvent } from '../../chains/custody.ts'
import type { RecoveryChain } from '../../chains/recovery.ts'
import type { DeadlinePolicy, Deadlines, Finality } from '../../swap/deadlines.ts'
import type { CustodyOf } from '../../swap/op-terms.ts'

export type RebuildChain = {
  chain: Pick<Chain, 'chainId' | 'readHeads' | 'ways'>
  custody: CustodyChain
  recovery: RecoveryChain
  /** Claims of the current hour of the chain's clock, by token; empty if uncapped. */
  readClaimed(): Promise<{ token: string; amount: bigint }[]>
  /** Our own keys that send transactions here. */
  senders: readonly string[]
}

export type RebuildDeps = {
  pool: Pool
  chains: readonly RebuildChain[]
  /** Whether our keys sent transactions that the database lacks: its attempts are then unreliable. */
  isLogLost: boolean
  custodyOf: CustodyOf
  deadlines: DeadlinePolicy
  finalityOf(origin: number, destination: number): Finality
  /** The latest possible deadlines of an op whose input was taken at this time. */
  latestDeadlines(lockedSeconds: number): Deadlines
  newSwapId(): string
  /** The venue of a delivery, by the adapter that it was bought through; undefined if unknown. */
  venueOf(chainId: number, adapter?: string): string | undefined
  /** First blocks to read, overriding those that follow from the database. */
  firstBlocks: ReadonlyMap<number, bigint>
  wait(): Promise<void>
  say(line: string): void
}

export type SenderNonce = { chainId: number; address: string; atLeast: number }

/** Facts from hard-final blocks of the chains, independent of the database. */
export type Facts = {
  /** By op hash. */
  locks: Map<string, Landed & { chainId: number }>
  claims: Map<string, Landed>
  refunds: Map<string, Refunded>
  /** By delivery hash. */
  deliveries: Map<string, Delivered & { chainId: number }>
}

export function createFacts(): Facts {
  return { locks: new Map(), claims: new Map(), refunds: new Map(), deliveries: new Map() }
}

type Range = { after: bigint; hard: Block; senders: readonly string[] }

/** All events of a chain after a block, up to a final one. */
export async function collectEvents(
  chain: Pick<CustodyChain, 'chainId' | 'readCustody'>,
  { after, hard, senders }: Range,
): Promise<CustodyEvent[]> {
  const events: CustodyEvent[] = []
  let block = after
  while (block < hard.number) {
    const read = await chain.readCustody(block, hard, senders)
    events.push(...read.events)
    if (read.block <= block) throw new Error(`Chain ${chain.chainId} does not advance beyond block ${block}`)
    block = read.block
  }
  return events
}

export function addFacts(facts: Facts, chainId: number, events: readonly CustodyEvent[]): void {
  const credits = new Set(
    events.flatMap((event) => (event.kind === 'credited' && event.owner === 'wallet' ? event.txHash : [])),
  )
  for (const event of events) {
    const { txHash, block } = event
    if (event.kind === 'locked') facts.locks.set(event.op, { txHash, block, chainId })
    if (event.kind === 'claimed') facts.claims.set(event.op, { txHash, block })
    if (event.kind === 'refunded')
      facts.refunds.set(event.op, { txHash, block, credited: credits.has(txHash) })
    if (event.kind === 'delivered') {
      facts.deliveries.set(event.delivery, { txHash, block, chainId, amount: event.amount })
    }
  }
}
