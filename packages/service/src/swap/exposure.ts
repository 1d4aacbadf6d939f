import { BPS, largest, smallest } from './amount.ts'
import { isDeliverable } from './lifecycle.ts'
import type { Swap } from './swap.ts'

/** Whether a delivery now would rely on a lock that a reorg can still undo and that is not booked as exposure. */
export function isExposing({ originFinal, originSafe, exposedCents }: Swap): boolean {
  return !originFinal && !originSafe && exposedCents === 0n
}

/** Whether a delivery now would add to the delivered and unclaimed value. */
export function isUnbooked({ state, unclaimedCents }: Swap): boolean {
  return unclaimedCents === 0n && isDeliverable(state)
}

// See docs/decisions.md#speed-has-a-price.
/** Whether the swap is paid before its lock is final for the premium, if there is room. */
export function isFastDue(swap: Swap): boolean {
  const { state, op, isPaidFast, waiting } = swap
  return state === 'locked' && op.fastOutput > 0n && !isPaidFast && !waiting && isExposing(swap)
}

/** Whether the swap was quoted as fast, and is now paid once its lock is final and not before. */
function waitsForFinality(swap: Swap): boolean {
  return swap.op.fastOutput > 0n && !swap.isPaidFast && isExposing(swap) && !isFastDue(swap)
}

/** Caps of an origin chain, or what is booked of them, in cents. */
export type OriginCaps = {
  /** As a cap, of swaps without a premium; as booked, of all. */
  exposedCents: bigint
  unclaimedCents: bigint
  /** As a cap, of all swaps; as booked, of those that paid a premium. Absent without a fast way. */
  fastCents?: bigint
}

/** The configured caps of an origin chain, in USD. */
export type CapRules = {
  exposureCapUsd?: number | undefined
  fastCapUsd?: number | undefined
  unclaimedCapUsd?: number | undefined
}

/** The parts of all inventory that caps are by default. */
export const defaultCapBps = { exposed: 500n, fast: 2_500n, unclaimed: 5_000n }
const LEAST_UNCLAIMED_CENTS = 25_000_000n

const centsOf = (usd: number | undefined) => (usd === undefined ? undefined : BigInt(usd) * 100n)

/**
 * The caps of an origin chain for an operator who holds this value on all chains. An operator who set the first cap
 * and not the second has bounded what a reorg can cost: there is no fast way then.
 */
export function capsFrom(rules: CapRules, inventoryCents: bigint): OriginCaps & { fastCents: bigint } {
  const partOf = (bps: bigint) => (inventoryCents * bps) / BPS
  const set = centsOf(rules.exposureCapUsd)
  const exposedCents = set ?? partOf(defaultCapBps.exposed)
  const fastCents = largest(exposedCents, centsOf(rules.fastCapUsd) ?? set ?? partOf(defaultCapBps.fast))
  const unclaimedCents =
    centsOf(rules.unclaimedCapUsd) ??
    largest(LEAST_UNCLAIMED_CENTS, partOf(defaultCapBps.unclaimed), fastCents)
  return { exposedCents, fastCents, unclaimedCents }
}

/** Remaining caps of an origin chain, in cents. See docs/decisions.md#claims-are-booked-first. */
export type OriginRoom = { exposed: bigint; fast: bigint; unclaimed: bigint }

/** All together stay within the cap for fast swaps, whose own part is what the other cap leaves of it. */
export function originRoom(caps: OriginCaps, booked: OriginCaps): OriginRoom {
  const { exposedCents: exposed, fastCents: fast = 0n } = booked
  const most = largest(caps.exposedCents, caps.fastCents ?? 0n)
  const left = most - exposed
  return {
    exposed: largest(0n, smallest(caps.exposedCents - (exposed - fast), left)),
    fast: largest(0n, smallest(most - caps.exposedCents - fast, left)),
    unclaimed: largest(0n, caps.unclaimedCents - booked.unclaimedCents),
  }
}

/** The swaps that fit into the caps, in order. The others wait until locks become final or claims free room. */
export function withinCaps(swaps: readonly Swap[], roomOf: (chainId: number) => OriginRoom): Swap[] {
  const payable = swaps.filter((swap) => !waitsForFinality(swap))
  return withinRoom(payable, demandsOf, (key) => {
    const [kind, chainId] = key.split(':')
    return roomOf(Number(chainId))[kind as keyof OriginRoom]
  })
}

function demandsOf(swap: Swap): Demand[] {
  const { originChain, valueCents: amount } = swap.op
  const demands: Demand[] = []
  if (isExposing(swap))
    demands.push({ key: `${isFastDue(swap) ? 'fast' : 'exposed'}:${originChain}`, amount })
  if (isUnbooked(swap)) demands.push({ key: `unclaimed:${originChain}`, amount })
  return demands
}

/** An amount demanded of the resource that `key` names. */
type Demand = { key: string; amount: bigint }

/** The items whose demands all fit into the remaining room, in order. */
export function withinRoom<T>(
  items: readonly T[],
  demandsOf: (item: T) => readonly Demand[],
  roomOf: (key: string) => bigint,
): T[] {
  const left = new Map<string, bigint>()
  const leftOf = (key: string) => left.get(key) ?? roomOf(key)
  return items.filter((item) => {
    const demands = demandsOf(item)
    if (demands.some(({ key, amount }) => amount > leftOf(key))) return false
    for (const { key, amount } of demands) left.set(key, leftOf(key) - amount)
    return true
  })
}

// GeoEscrow caps the claims of each token per hour of its chain's clock (HourlyCapLib). The hour is a fixed window:
// floor(block time / 3600).
//
// Rule: the sum of a token's booked inputs never exceeds one hourly cap. An input is booked in the transaction that
// records its lock. It stays booked until it can no longer be claimed, or until the hour of its claim is over.
//
// Why that suffices: all claims of one hour are booked together at the end of that hour. So claims of an hour never
// exceed its cap, whatever their order and batches, and however close a refund deadline is.

export type ClaimBook = {
  /** Inputs that are locked or being locked and not yet finally claimed. */
  open: bigint
  /** Inputs that were finally claimed, in `hour` at the latest. */
  claimed: bigint
  hour: number
}

export const EMPTY_BOOK: ClaimBook = { open: 0n, claimed: 0n, hour: 0 }

const HOUR_SECONDS = 3_600

/** The hourly window of the cap that contains this time of the chain's clock. */
export const hourOf = (seconds: number): number => Math.floor(seconds / HOUR_SECONDS)

/** The booked part of the cap at this time of the chain's clock. */
export function bookedAt({ open, claimed, hour }: ClaimBook, seconds: number): bigint {
  return hourOf(seconds) > hour ? open : open + claimed
}

/** The free part of the cap. An input that is already booked needs none of it. */
export function claimRoom(book: ClaimBook, cap: bigint, seconds: number): bigint {
  const left = cap - bookedAt(book, seconds)
  return left > 0n ? left : 0n
}

/**
 * The book after a claim became final. `bySeconds` is the time of a hard-final block that shows the claim. The claim is
 * not later than that block, and all hours before the block's hour are over.
 */
export function withClaimed(book: ClaimBook, amount: bigint, bySeconds: number): ClaimBook {
  const hour = hourOf(bySeconds)
  const open = book.open - amount
  if (hour < book.hour) return { open, claimed: book.claimed, hour: book.hour }
  return { open, claimed: hour === book.hour ? book.claimed + amount : amount, hour }
}

/** A single input takes at most a quarter of the hourly cap, so that one swap cannot exclude all others. */
export const largestShare = (cap: bigint): bigint => cap / 4n
