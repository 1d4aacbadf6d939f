import { ServiceError } from '../../errors.ts'
import type { KeyRules } from '../../swap/key-rules.ts'

/** The most that one network address may hold of what nobody has paid or signed yet, in this process. */
type Share = { offers: number; cents: bigint }

export type OpenOffers = {
  /** Builds an offer of this value for its caller, unless that has too many open ones, or too valuable ones. */
  open<Built>(network: string, cents: bigint, build: () => Promise<Opened<Built>>): Promise<Built>
  /** The op with this name was paid, or signed. */
  close(name: string): void
}

/** `name`: by which a payment finds its op, an address or a hash; or the op's id. */
export type Opened<Built> = { built: Built; name: string; expiresAt: number }
type Offered = { network: string; cents: bigint; name?: string; until: number }

/** Bounds what one caller without a key takes from the account that all of them share. */
export function createOpenOffers(share: Share, now: () => number = Date.now): OpenOffers {
  const open = new Set<Offered>()

  const assertRoom = (network: string, cents: bigint): void => {
    for (const each of open) if (each.until <= now()) open.delete(each)
    const own = [...open].filter((each) => each.network === network)
    const sum = own.reduce((before, each) => before + each.cents, cents)
    if (own.length === 0 || (own.length < share.offers && sum <= share.cents)) return
    const first = Math.min(...own.map(({ until }) => until))
    throw new ServiceError('RATE_LIMITED', {
      message:
        'Too much that this network address asked for is neither paid nor signed. Use it, or wait until it expires.',
      recovery: { retryAfterMs: Number.isFinite(first) ? first - now() : 1_000 },
    })
  }
  return {
    async open(network, cents, build) {
      assertRoom(network, cents)
      const offered: Offered = { network, cents, until: Number.POSITIVE_INFINITY }
      open.add(offered)
      try {
        const { built, name, expiresAt } = await build()
        offered.name = name.toLowerCase()
        offered.until = expiresAt
        // A repeated build is the same op.
        for (const each of open) if (each !== offered && each.name === offered.name) open.delete(each)
        return built
      } catch (error) {
        open.delete(offered)
        throw error
      }
    },
    close(name) {
      for (const each of open) if (each.name === name.toLowerCase()) open.delete(each)
    },
  }
}

type Account = { maxUnsubmitted: number; maxUnsubmittedCents: bigint; apiProcesses: number }

type Rules = Pick<KeyRules, 'maxSwapCents'>

/** No swap of a payer is worth more than its open offers may be together. */
export const rulesWithin = <R extends Rules>({ cents }: Share, rules: R): R => ({
  ...rules,
  maxSwapCents: Math.min(Number(cents), rules.maxSwapCents ?? Number(cents)),
})

/** A quarter of the account's, divided among the API processes: each knows its own offers alone. */
export function shareOf({ maxUnsubmitted, maxUnsubmittedCents, apiProcesses }: Account): Share {
  const offers = Math.max(1, Math.floor(maxUnsubmitted / 4 / apiProcesses))
  return { offers, cents: maxUnsubmittedCents / 4n / BigInt(apiProcesses) }
}
