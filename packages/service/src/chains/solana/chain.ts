import type { LegCosts } from '../../swap/catalog.ts'
import { collectError } from '../../swap/group.ts'
import type { Op, Swap } from '../../swap/swap.ts'
import type { Chain, ChainEvent, EventPage, Heads, TxCost, Watched } from '../chain.ts'
import { readWallet } from './builder.ts'
import * as deliveries from './deliveries.ts'
import { inputCostLamports, openCostLamports, paymentCostLamports } from './fees.ts'
import { lifetimeOf, readBlocks, type SolanaBlock } from './heads.ts'
import { type Landing, readLandings } from './history.ts'
import { readInputTerms } from './input.ts'
import * as locks from './locks.ts'
import { findExit, findHeld, findRecordedExit, searchInput } from './locks.ts'
import { creationHash, openAccount, splitRaw } from './paid-input.ts'
import type { SolanaParts } from './parts.ts'
import { planDelivery, planInput, planPayout, planPublicRefund, type SolanaRequest } from './plans.ts'
import { broadcast } from './send.ts'
import { isOpSigned } from './signed-input.ts'
import { readOutcomes, readTerms, sign, type Terms } from './signing.ts'
import { readTransaction } from './transaction.ts'
import { findTransaction, planTransfer, readCoins } from './transfer.ts'

/**
 * A Solana chain behind the ports of the flow. A transaction carries one swap. An input's account and a delivery's
 * marker are created once, so of all transactions of one step at most one lands. Two with one purpose could both be
 * valid: none is replaced, and a second is planned anew and signed once the first has expired.
 */
export function createSolanaChain(parts: SolanaParts): Chain {
  const { client, settings, facts } = parts
  const findEvents = createEventFinder(parts)
  return {
    chainId: settings.chainId,
    maxBatch: 1,
    hasNonces: false,
    readHeads: (known, isIdle) => readNewHeads(parts, known, isIdle),
    // The chain has no log: events of an op are read from its accounts.
    findEvents: ({ heads, watched }, faults) => findEvents({ watched, depths: depthsOf(heads), faults }),
    readLegCosts: () => readLegCosts(parts),
    readCoins: (address, at) => readCoins(parts, address, at as SolanaBlock),
    planTransfer: (transfer) => planTransfer(parts, transfer),
    findTransaction: (txHash) => findTransaction(parts, txHash),
    readTerms: () => readTerms(parts),
    sign: (request, { terms }) => sign(parts, request as SolanaRequest, terms as Terms),
    broadcast: (raw) => broadcastInTurn(parts, raw).then(() => undefined),
    readCost: (txHash, raw) => readCost(parts, txHash, raw),
    readOutcomes: (_sender, sent, { hard }) => readOutcomes(parts, sent, hard as SolanaBlock),
    async readWallet({ wallet, token }) {
      const [rent, of] = await Promise.all([facts.rent(), facts.tokenOf(token)])
      const { balance, frozen, slot } = await readWallet(client, { wallet, token: of, rent })
      return { delegation: { kind: 'unneeded' }, balance: frozen ? 0n : balance, block: slot }
    },
    readLocks: (ops, at, faults) => locks.readLocks(parts, ops, at as SolanaBlock, faults),
    isLockOver: ({ lastValid }, at) => lastValid !== undefined && at.height > lastValid,
    findObstacle: (swap) => locks.findObstacle(parts, swap),
    isSigned: (swap) => isOpSigned(parts, swap),
    canRefund: (swap) => locks.canRefund(parts, swap),
    planLock: (swaps) => planInput(parts, onlyOne(swaps)),
    // Each escrow names its attester.
    readAttesters: async () => ({ members: [settings.attester], threshold: 1 }),
    planClaim: (swaps, signatures) =>
      planPayout(parts, { kind: 'claim', op: onlyOne(swaps).op }, onlyOne(signatures).signature),
    isRefundPublic: ({ refundDeadline }, at) => at.seconds > refundDeadline,
    planRefund: async ({ op }: Swap, attested) =>
      attested
        ? planPayout(parts, { kind: 'refund', op }, onlyOne(attested.signatures).signature)
        : planPublicRefund(op),
    simulateDelivery: (op) => deliveries.simulateDelivery(parts, op),
    findDeliveries: (paid, at, faults) => deliveries.findDeliveries(parts, paid, depthsOf(at), faults),
    readUndelivered: (ops, at, faults) => deliveries.readUndelivered(parts, ops, at as SolanaBlock, faults),
    // The program refuses a delivery after its deadline.
    isDeliveryOver: ({ fillDeadline }, at) => at.seconds > fillDeadline,
    planDelivery: (ops) => planDelivery(parts, onlyOne<Op>(ops)),
    readHoldings: (at) => deliveries.readHoldings(parts, at as SolanaBlock),
  }
}

async function readNewHeads(
  { client, blockhashes }: SolanaParts,
  known?: Heads,
  isIdle?: boolean,
): Promise<Heads> {
  const heads = await readBlocks(client.agreed, known, isIdle)
  // Heads that did not move may be old.
  if (heads !== known) blockhashes.note(lifetimeOf(heads))
  return heads
}

function depthsOf({ head, hard }: Heads) {
  return { head: head as SolanaBlock, hard: hard as SolanaBlock }
}

function onlyOne<T>(items: readonly T[]): T {
  const [only] = items
  if (only === undefined || items.length > 1) throw new Error('One swap per transaction')
  return only
}

/** Fees of an input with its claim, and of a delivery with the sweep of its marker. */
async function readLegCosts({ facts }: SolanaParts): Promise<LegCosts> {
  const [rent, microLamportsPerUnit] = await Promise.all([facts.rent(), facts.priorityPrice()])
  const payment = paymentCostLamports({ rent, microLamportsPerUnit })
  const lock = inputCostLamports(microLamportsPerUnit)
  const ways = { payment: lock + openCostLamports(microLamportsPerUnit) }
  const deposits = { lock: rent.tokenAccountLamports, delivery: rent.markerLamports }
  return { lock, firstLock: lock, ways, delivery: payment, purchase: payment, gasPrice: 0n, deposits }
}

/** A payment is sent once its account exists. Until then the same bytes are sent again. */
async function broadcastInTurn(parts: SolanaParts, raw: string): Promise<void> {
  const { creation, transaction } = splitRaw(raw)
  const create = () => broadcast(parts.client, creation ?? '')
  if (creation === undefined || (await openAccount(parts, transaction, create)))
    await broadcast(parts.client, transaction)
}

/**
 * The fee that a transaction took from its fee payer, and the ops that it moved: none if it failed. A wallet that
 * closes its account after the simulation makes the lock fail at our cost. For a payment that failed or never landed,
 * the account that waited for it counts with its rent: its wallet can keep that from coming back.
 */
export async function readCost(
  { client, settings }: Pick<SolanaParts, 'client' | 'settings'>,
  txHash: string,
  raw = '',
): Promise<TxCost | undefined> {
  const { creation } = splitRaw(raw)
  const at = { commitment: 'confirmed', program: settings.program } as const
  const [found, opened] = await Promise.all([
    readTransaction(client.agreed, { ...at, txHash }),
    creation === undefined
      ? undefined
      : readTransaction(client.agreed, { ...at, txHash: creationHash(creation) }),
  ])
  const { before = 0n, after = 0n } = opened?.lamports.get(opened.accounts[0] ?? '') ?? {}
  if (!found) return opened && { fee: before - after, eventIds: [] }
  const input = found.failed ? undefined : await readInputTerms(settings, found)
  const others = found.escrow.flatMap((each) => {
    if (each.kind === 'sweep') return []
    return each.kind === 'deliver' ? [each.opId] : [each.terms.opId]
  })
  return { fee: found.fee + before - after, eventIds: [...(input ? [`0x${input.opId}`] : []), ...others] }
}

type Depths = { head: SolanaBlock; hard: SolanaBlock }

type Query = { watched(): Promise<Watched>; depths: Depths; faults: unknown[] | undefined }

// How often nodes are asked for more than is expected: an input that a transaction missing in the record took, and a
// transaction that a fork moved to another slot. Less than the time to finality.
const SEARCH_MS = 5_000

/** Finds the events that the chain shows at a head, of the ops that are watched. */
export function createEventFinder(parts: SolanaParts, now = () => performance.now()) {
  let searchedAt = Number.NEGATIVE_INFINITY
  let landed = new Map<string, Landing>()
  return async ({ watched, depths, faults }: Query): Promise<EventPage> => {
    const isSearchDue = now() - searchedAt >= SEARCH_MS
    if (isSearchDue) {
      searchedAt = now()
      landed = new Map()
    }
    return readEvents(parts, await watched(), depths, { isSearchDue, landed, faults })
  }
}

/** `landed`: transactions of deliveries that nodes are not asked about again. */
type Reading = { isSearchDue: boolean; landed: Map<string, Landing>; faults: unknown[] | undefined }

async function readEvents(
  parts: SolanaParts,
  watched: Watched,
  { head, hard }: Depths,
  { isSearchDue, landed, faults }: Reading,
): Promise<EventPage> {
  const paid = watched.deliveries.map((op) => ({ op }))
  const [locked, closed, delivered] = await Promise.all([
    findLocked(parts, watched.locks, head, { isSearchDue, faults }),
    findExited(parts, watched.exits, head, faults),
    deliveries.findDeliveries(parts, paid, { head, hard }, faults, landed),
  ])
  const events = [...locked, ...closed]
  for (const op of watched.deliveries) {
    const { txHash, block, amount } = delivered.get(op.hash) ?? {}
    if (txHash === undefined || block === undefined || amount === undefined) continue
    events.push({ kind: 'delivered', id: op.deliveryHash, txHash, block, blockHash: '', amount })
  }
  return { events, to: head.number, isComplete: false }
}

/**
 * An input is locked if its recorded transaction landed, even if it has left again. Otherwise its account is read, and
 * the history of an account that holds it: always for an op without a recorded transaction, for others at times.
 */
async function findLocked(
  parts: SolanaParts,
  ops: readonly Op[],
  head: SolanaBlock,
  { isSearchDue, faults }: Pick<Reading, 'isSearchDue' | 'faults'>,
): Promise<ChainEvent[]> {
  if (ops.length === 0) return []
  const ids = ops.map(({ hash }) => hash)
  const signed = await parts.findSigned('input', ids)
  const recorded = await readLandings(parts.client.agreed, [...signed.values()].flat(), head.commitment)
  const landingOf = ({ hash }: Op) => signed.get(hash)?.flatMap((txHash) => recorded.get(txHash) ?? [])[0]
  const isRecorded = ({ hash }: Op) => (signed.get(hash)?.length ?? 0) > 0
  const sought = ops.filter((op) => !landingOf(op) && (isSearchDue || !isRecorded(op)))
  const held = await findHeld(parts, sought, head)
  const found = await Promise.all(
    ops.map((op) =>
      collectError(faults, async () => {
        const landing = landingOf(op) ?? (held.has(op) ? await searchInput(parts, op, head) : undefined)
        return landing && toEvent('locked', op.hash, landing)
      }),
    ),
  )
  return found.flatMap((event) => event ?? [])
}

async function findExited(
  parts: SolanaParts,
  ops: readonly Op[],
  head: SolanaBlock,
  faults: unknown[] | undefined,
): Promise<ChainEvent[]> {
  if (ops.length === 0) return []
  const ids = ops.map(({ hash }) => hash)
  const [held, signed] = await Promise.all([findHeld(parts, ops, head), parts.findSigned('exit', ids)])
  const landed = await readLandings(parts.client.agreed, [...signed.values()].flat(), head.commitment)
  const landedOf = ({ hash }: Op) => signed.get(hash)?.filter((txHash) => landed.has(txHash)) ?? []
  // After an exit anybody can fill the account again.
  const gone = ops.filter((op) => !held.has(op) || landedOf(op).length > 0)
  const found = await Promise.all(
    gone.map((op) =>
      collectError(faults, async () => {
        const exit = held.has(op)
          ? await findRecordedExit(parts, op, head, landedOf(op))
          : await findExit(parts, op, head, signed.get(op.hash))
        return exit && toEvent(exit.kind, op.hash, exit)
      }),
    ),
  )
  return found.flatMap((event) => event ?? [])
}

function toEvent(kind: ChainEvent['kind'], id: string, { txHash, slot }: Landing): ChainEvent {
  return { kind, id, txHash, block: slot, blockHash: '' }
}
