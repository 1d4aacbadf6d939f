import { createRecent } from '../../async/recent.ts'
import { smallest } from '../../model/amount.ts'
import type { SolanaClient } from './client.ts'
import { readMint, type Token } from './mint.ts'
import { mostOf, readPriorityPrice } from './priority.ts'
import { type Rent, readRent } from './rent.ts'
import type { SolanaChainSettings } from './settings.ts'

export type Facts = {
  rent(): Promise<Rent>
  tokenOf(mint: string): Promise<Token>
  /** Undefined if there is no such mint. */
  findToken(mint: string): Promise<Token | undefined>
  /** Millionths of a lamport per compute unit, a few seconds old at most. */
  priorityPrice(): Promise<bigint>
  /** The same within another upper bound. */
  priceUpTo(cap: bigint): Promise<bigint>
  /**
   * The compute limit of transactions of one shape, measured once a minute. Equal shapes use equal units, and another
   * build of a program may need more.
   */
  unitsOf(shape: string, measure: () => Promise<number | undefined>): Promise<number | undefined>
}

const FOREVER = Number.POSITIVE_INFINITY
const PRICE_MS = 5_000
const UNITS_MS = 60_000

/** Caches facts that rarely change: read once or at intervals; failed readings are retried. */
export function createFacts(
  client: SolanaClient,
  settings: Pick<SolanaChainSettings, 'vault' | 'feePayers' | 'priorityPrice'>,
): Facts {
  const { vault, feePayers, priorityPrice: bounds } = settings
  const tokens = new Map<string, Token>()
  const units = new Map<string, { at: number; limit: number }>()
  const findToken = async (mint: string) => {
    const token = tokens.get(mint) ?? (await readMint(client, mint))
    if (token) tokens.set(mint, token)
    return token
  }
  const accounts = [vault, ...Object.values(feePayers)]
  const { floor } = bounds
  const recent = createRecent(PRICE_MS, () =>
    readPriorityPrice(client, { accounts, floor, cap: mostOf(bounds) }),
  )
  const priceUpTo = async (cap: bigint) => smallest(await recent.read(), cap)
  return {
    findToken,
    async tokenOf(mint) {
      const token = await findToken(mint)
      if (!token) throw new Error(`No mint at ${mint}`)
      return token
    },
    rent: createRecent(FOREVER, () => readRent(client)).read,
    priorityPrice: () => priceUpTo(bounds.cap),
    priceUpTo,
    async unitsOf(shape, measure) {
      const known = units.get(shape)
      if (known && Date.now() - known.at < UNITS_MS) return known.limit
      const limit = await measure()
      if (limit !== undefined) units.set(shape, { at: Date.now(), limit })
      return limit
    },
  }
}
