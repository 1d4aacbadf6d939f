import type { Block, Delivered, Landed, Refunded } from '../chains/chain.ts'
import type { CustodyChain, CustodyEvent } from '../chains/custody.ts'

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
