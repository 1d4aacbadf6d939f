import type { Address, Signature } from '@solana/kit'
import { createMemory } from '../../async/cache.ts'
import { chunksOf } from '../../swap/group.ts'
import { majorityOf } from '../nodes/agree.ts'
import type { SolanaClient } from './client.ts'
import type { Depth } from './heads.ts'
import { readTransaction, type Transaction } from './transaction.ts'

/** The transaction that made a step of an op. */
export type Landing = { txHash: string; slot: bigint }

// Agave's limit per request.
const MAX_STATUSES = 256
const REACHED: Record<Depth, readonly string[]> = {
  confirmed: ['confirmed', 'finalized'],
  finalized: ['finalized'],
}

/**
 * The transactions among these that a majority of the nodes shows as landed in the same slot, without an error. A
 * missing one proves nothing.
 */
export async function readLandings(
  { nodes }: SolanaClient,
  txHashes: readonly string[],
  commitment: Depth,
): Promise<Map<string, Landing>> {
  const landed = new Map<string, Landing>()
  const needed = majorityOf(nodes.length)
  const read = async (some: readonly string[]) => {
    const answers = await Promise.allSettled(nodes.map((node) => readFrom(node, some, commitment)))
    const seen = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    if (seen.length < needed) throw new Error(`${seen.length} of ${needed} nodes answered`)
    for (const [at, txHash] of some.entries()) {
      const slots = seen.flatMap((slotsOf) => slotsOf[at] ?? [])
      const slot = slots.find((each) => slots.filter((other) => other === each).length >= needed)
      if (slot !== undefined) landed.set(txHash, { txHash, slot })
    }
  }
  await Promise.all(chunksOf([...new Set(txHashes)], MAX_STATUSES).map(read))
  return landed
}

type Node = SolanaClient['nodes'][number]

async function readFrom(
  node: Node,
  txHashes: readonly string[],
  commitment: Depth,
): Promise<(bigint | undefined)[]> {
  const options = { searchTransactionHistory: true }
  const { value } = await node.getSignatureStatuses(txHashes as Signature[], options).send()
  return value.map((status) => {
    const isReached = REACHED[commitment].includes(status?.confirmationStatus ?? '')
    return status && status.err === null && isReached ? status.slot : undefined
  })
}

const PAGE = 1_000
// An input has a lock and an exit, a marker a delivery. Strangers who name the account pay a fee for each transaction.
const MAX_READS = 100
const MAX_PAGES = 100
// More than are searched at once.
const MAX_ACCOUNTS = 500

type Query = {
  /** Searches of one account for different steps pass over different transactions. */
  step: 'input' | 'exit' | 'deliver'
  address: string
  commitment: Depth
  minContextSlot?: bigint | undefined
  program: string
}

/** A history too long for one reading: the wanted transaction may be in the rest, which the next readings reach. */
class UnreadHistoryError extends Error {
  override name = 'UnreadHistoryError'
}

/** The transactions that each search passed over, of the accounts that were searched last. */
const passedBy = new WeakMap<SolanaClient, ReturnType<typeof createMemory<Set<string>>>>()

function passedIn(client: SolanaClient, { step, address, commitment }: Query): Set<string> {
  const remember = passedBy.get(client) ?? createMemory<Set<string>>(MAX_ACCOUNTS)
  passedBy.set(client, remember)
  return remember(`${step} ${commitment} ${address}`, () => new Set())
}

/**
 * The newest transaction that touched an account and for which `find` returns something. Reads a hundred transactions
 * at once and remembers those that are not it, so that a long history by strangers delays an answer and prevents none.
 */
export async function findInHistory<T>(
  client: SolanaClient,
  query: Query,
  find: (transaction: Transaction) => T | undefined | Promise<T | undefined>,
): Promise<T | undefined> {
  const { address, commitment, minContextSlot, program } = query
  const passed = passedIn(client, query)
  let before: Signature | undefined
  let reads = 0
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const options = {
      commitment,
      limit: PAGE,
      ...(minContextSlot !== undefined && { minContextSlot }),
      ...(before && { before }),
    }
    const page = await client.rpc.getSignaturesForAddress(address as Address, options).send()
    for (const { signature, err } of page) {
      if (err !== null || passed.has(signature)) continue
      reads += 1
      if (reads > MAX_READS)
        throw new UnreadHistoryError(`The history of ${address} is long: ${passed.size} read`)
      const transaction = await readTransaction(client, { txHash: signature, commitment, program })
      if (!transaction) throw new Error(`The node lists ${signature} but does not return it`)
      const found = await find(transaction)
      if (found !== undefined) return found
      passed.add(signature)
    }
    before = page.at(-1)?.signature
    // A page on which nodes differ is shorter than asked for, and not the last.
    if (!before) return undefined
  }
  throw new UnreadHistoryError(`The history of ${address} has more than ${MAX_PAGES} pages`)
}
