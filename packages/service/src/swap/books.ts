import { largest, smallest } from './amount.ts'

/**
 * Accounts for one token on one chain. `locked`, `owed` and `spare` add up to the balance of the escrow, `inventory`
 * and `integrators` to that of the vault. The other accounts are external: sources and destinations of money.
 */
export type LedgerAccount =
  /** Inputs of swaps. */
  | 'locked'
  /** Payments that a token contract refused; their owners can withdraw them. */
  | 'owed'
  /** Escrow balance beyond booked inputs: unsolicited transfers, and balances from before the books. */
  | 'spare'
  | 'inventory'
  /** Fees that accounts added for themselves, until they are paid out. */
  | 'integrators'
  /** Wallets and recipients of swaps. */
  | 'wallet'
  /** Pools from which outputs are bought. */
  | 'market'
  | 'treasury'
  /** `gas`: balances of fee payers. `network`: fees they paid to the chain. `rent`: what accounts return to them. */
  | 'gas'
  | 'network'
  | 'rent'
  /** Deposits and unsolicited transfers. */
  | 'outside'
  /** Outflows that no swap, treasury withdrawal or rule explains. */
  | 'unexplained'

/** A double-entry booking: moves an amount of a token from one account to another. */
export type Transfer = { token: string; amount: bigint; debit: LedgerAccount; credit: LedgerAccount }

/** The part of a difference between chain and books that every reading showed, above or below zero. */
export function steadyPart(readings: readonly bigint[]): bigint {
  return largest(smallest(...readings), 0n) + smallest(largest(...readings), 0n)
}

/** Ended swaps of one route on one day (UTC). USD amounts are in millionths. */
export type RouteDay = {
  day: string
  originChain: number
  destinationChain: number
  inputToken: string
  outputToken: string
  settled: number
  refunded: number
  /** Token accounts that were created for recipients. */
  accounts: number
  volumeCents: bigint
  /** Kept from the inputs for fee and costs. */
  earnedE6: bigint
}

/** Gas coin spent by the keys of one chain on one day, with the rent that they paid. */
export type GasDay = { day: string; chainId: number; amount: bigint; usdE6: bigint }

type RouteProfit = RouteDay & { networkE6: bigint; profitE6: bigint }
export type Books = { routes: RouteProfit[]; volumeCents: bigint; earnedE6: bigint; networkE6: bigint }

// Transactions of a swap: lock and claim, or lock and refund, on its origin; the delivery on its destination.
const ORIGIN_LEGS = 2n
const DESTINATION_LEGS = 1n

/**
 * Joins what routes earned with what their chains cost. The keys of a chain serve all routes: its gas of a day is
 * divided by the number of transactions that each route needed there.
 */
export function joinBooks(routes: readonly RouteDay[], gas: readonly GasDay[]): Books {
  const legs = new Map<string, bigint>()
  for (const route of routes)
    for (const [place, count] of legsOf(route)) legs.set(place, (legs.get(place) ?? 0n) + count)
  const spent = new Map(gas.map(({ day, chainId, usdE6 }) => [placeOf(day, chainId), usdE6]))
  const joined = routes.map((route) => {
    const shares = legsOf(route).map(([place, count]) => shareOf(spent.get(place), count, legs.get(place)))
    const networkE6 = shares.reduce((sum, share) => sum + share, 0n)
    return { ...route, networkE6, profitE6: route.earnedE6 - networkE6 }
  })
  return {
    routes: joined,
    volumeCents: routes.reduce((sum, { volumeCents }) => sum + volumeCents, 0n),
    earnedE6: routes.reduce((sum, { earnedE6 }) => sum + earnedE6, 0n),
    networkE6: gas.reduce((sum, { usdE6 }) => sum + usdE6, 0n),
  }
}

const placeOf = (day: string, chainId: number) => `${day} ${chainId}`

function legsOf({ day, originChain, destinationChain, settled, refunded }: RouteDay): [string, bigint][] {
  return [
    [placeOf(day, originChain), ORIGIN_LEGS * BigInt(settled + refunded)],
    [placeOf(day, destinationChain), DESTINATION_LEGS * BigInt(settled)],
  ]
}

function shareOf(spent = 0n, count: bigint, all = 0n): bigint {
  return all === 0n ? 0n : (spent * count) / all
}

// The minimum that Solana keeps in a token account.
const TOKEN_ACCOUNT_LAMPORTS = 2_039_280n

/** Lamports that swaps of a day left in token accounts of recipients on Solana; at most what was spent. */
export function rentOf(
  routes: readonly RouteDay[],
  { day, chainId, amount }: Pick<GasDay, 'day' | 'chainId' | 'amount'>,
): bigint {
  const ofDay = routes.filter((route) => route.day === day)
  const accounts = ofDay.filter(({ destinationChain }) => destinationChain === chainId)
  const rent = accounts.reduce((sum, each) => sum + BigInt(each.accounts) * TOKEN_ACCOUNT_LAMPORTS, 0n)
  return rent < amount ? rent : amount
}

/** Earnings and network costs of this many swaps like the ended ones; undefined without any. */
export function scaleBooks(
  { routes, earnedE6, networkE6 }: Pick<Books, 'routes' | 'earnedE6' | 'networkE6'>,
  swaps: bigint,
): Pick<Books, 'earnedE6' | 'networkE6'> | undefined {
  const ended = BigInt(routes.reduce((sum, { settled, refunded }) => sum + settled + refunded, 0))
  if (ended === 0n) return undefined
  return { earnedE6: (earnedE6 * swaps) / ended, networkE6: (networkE6 * swaps) / ended }
}
