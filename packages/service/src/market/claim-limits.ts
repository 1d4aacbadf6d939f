import type { TokenBook } from '../store/claim-books.ts'
import type { OriginCaps } from '../store/exposure.ts'
import { mostWithin, type Priced } from '../swap/amount.ts'
import { claimRoom, EMPTY_BOOK, largestShare } from '../swap/exposure.ts'

/** `unknown` until the chain was read once; `none` if claims are unlimited. */
type ClaimCapOf = (chainId: number, token: string) => bigint | 'none' | 'unknown'

export type Booked = { books: readonly TokenBook[]; deliveries: ReadonlyMap<number, OriginCaps> }

type Options = {
  claimCapOf: ClaimCapOf
  /** Time of a chain's clock; undefined while the chain is unavailable. */
  secondsOf(chainId: number): number | undefined
  capsOf(chainId: number): OriginCaps
}

/** The largest input of a token per swap, by the claim cap and by the cap on delivered and unclaimed value. */
export function createClaimLimits({ claimCapOf, secondsOf, capsOf }: Options) {
  let booked: Booked | undefined

  function claimable(chainId: number, token: string): bigint | undefined {
    const cap = claimCapOf(chainId, token)
    if (cap === 'none') return undefined
    const seconds = secondsOf(chainId)
    if (cap === 'unknown' || seconds === undefined || !booked) return 0n
    const book = booked.books.find((each) => each.chainId === chainId && each.token === token)
    const room = claimRoom(book ?? EMPTY_BOOK, cap, seconds)
    const share = largestShare(cap)
    return room < share ? room : share
  }

  return {
    /** Keeps the bookings, as last read. */
    take(read: Booked): void {
      booked = read
    },
    /** The largest input accepted now; 0 until everything was read once. */
    mostInput(chainId: number, token: string, priced: Priced): bigint {
      if (!booked) return 0n
      const left = capsOf(chainId).unclaimedCents - (booked.deliveries.get(chainId)?.unclaimedCents ?? 0n)
      const deliverable = left > 0n ? mostWithin(left, priced) : 0n
      const most = claimable(chainId, token)
      return most === undefined || deliverable < most ? deliverable : most
    },
    /** Remaining cap, in cents, for deliveries against inputs of this chain that are not final. */
    exposureRoom(chainId: number): bigint {
      if (!booked) return 0n
      const left = capsOf(chainId).exposedCents - (booked.deliveries.get(chainId)?.exposedCents ?? 0n)
      return left > 0n ? left : 0n
    },
  }
}
