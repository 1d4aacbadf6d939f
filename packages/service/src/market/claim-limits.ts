import type { TokenBook } from '../store/claim-books.ts'
import { mostWithin, type Priced, type PriceE18, toCents, usdE18 } from '../swap/amount.ts'
import { type Catalog, findToken } from '../swap/catalog.ts'
import {
  type CapRules,
  capsFrom,
  claimRoom,
  EMPTY_BOOK,
  largestShare,
  type OriginCaps,
  originRoom,
} from '../swap/exposure.ts'

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

  const roomOf = (chainId: number) => {
    const none = { exposedCents: 0n, unclaimedCents: 0n }
    return booked && originRoom(capsOf(chainId), booked.deliveries.get(chainId) ?? none)
  }

  return {
    /** Keeps the bookings, as last read. */
    take(read: Booked): void {
      booked = read
    },
    /** The largest input accepted now; 0 until everything was read once. */
    mostInput(chainId: number, token: string, priced: Priced): bigint {
      const left = roomOf(chainId)?.unclaimed ?? 0n
      const deliverable = left > 0n ? mostWithin(left, priced) : 0n
      const most = claimable(chainId, token)
      return most === undefined || deliverable < most ? deliverable : most
    },
    /** Remaining cap, in cents, for deliveries against inputs of this chain that are not final. */
    exposureRoom: (chainId: number): bigint => roomOf(chainId)?.exposed ?? 0n,
    /** The same for those that pay the premium. */
    fastRoom: (chainId: number): bigint => roomOf(chainId)?.fast ?? 0n,
  }
}

type CapOptions = {
  catalog: Catalog
  rulesOf(chainId: number): CapRules
  /** The balances of a chain's vault, as last seen. */
  holdingsOf(chainId: number): readonly { token: string; amount: bigint }[]
  priceOf(asset: string): PriceE18 | undefined
  now(): number
}

const KEPT_MS = 1_000

export type CapsOf = (chainId: number) => ReturnType<typeof capsFrom>

/**
 * The caps of each origin chain: as configured, else as parts of all that the vaults hold. An asset without a price
 * keeps its last one here: caps need no exact value.
 */
export function createOriginCaps({ catalog, rulesOf, holdingsOf, priceOf, now }: CapOptions): CapsOf {
  const known = new Map<string, PriceE18>()
  let value = { cents: 0n, at: Number.NEGATIVE_INFINITY }

  function lastPriceOf(asset: string): PriceE18 {
    const price = priceOf(asset) ?? known.get(asset) ?? 0n
    known.set(asset, price)
    return price
  }
  function inventoryCents(): bigint {
    if (now() - value.at < KEPT_MS) return value.cents
    const parts = [...catalog.chains.values()].flatMap((chain) =>
      holdingsOf(chain.chainId).map(({ token: address, amount }) => {
        const token = findToken(chain, address)
        return token ? usdE18(amount, { decimals: token.decimals, price: lastPriceOf(token.asset) }) : 0n
      }),
    )
    value = { cents: toCents(parts.reduce((sum, part) => sum + part, 0n)), at: now() }
    return value.cents
  }
  return (chainId) => capsFrom(rulesOf(chainId), inventoryCents())
}
