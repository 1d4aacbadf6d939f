import type { SolanaClient } from './client.ts'
import { readMint, type Token } from './mint.ts'
import { readPriorityPrice } from './priority.ts'
import { type Rent, readRent } from './rent.ts'
import type { SolanaChainSettings } from './settings.ts'

export type Facts = {
  rent(): Promise<Rent>
  tokenOf(mint: string): Promise<Token>
  /** Millionths of a lamport per compute unit, a few seconds old at most. */
  priorityPrice(): Promise<bigint>
  /**
   * The compute limit of transactions of one shape, measured once a minute. Equal shapes use equal units, and another
   * build of a program may need more.
   */
  unitsOf(shape: string, measure: () => Promise<number | undefined>): Promise<number | undefined>
}

const PRICE_MS = 5_000
const UNITS_MS = 60_000

/** Caches facts that rarely change: read once or at intervals; failed readings are retried. */
export function createFacts(
  client: SolanaClient,
  settings: Pick<SolanaChainSettings, 'vault' | 'feePayers' | 'priorityPrice'>,
): Facts {
  const { vault, feePayers, priorityPrice: bounds } = settings
  const tokens = new Map<string, () => Promise<Token>>()
  const units = new Map<string, { at: number; limit: number }>()
  const tokenOf = (mint: string) => {
    const known = tokens.get(mint) ?? remember(() => getToken(client, mint))
    tokens.set(mint, known)
    return known()
  }
  return {
    tokenOf,
    rent: remember(() => readRent(client)),
    priorityPrice: remember(
      () => readPriorityPrice(client, { accounts: [vault, ...Object.values(feePayers)], ...bounds }),
      PRICE_MS,
    ),
    async unitsOf(shape, measure) {
      const known = units.get(shape)
      if (known && Date.now() - known.at < UNITS_MS) return known.limit
      const limit = await measure()
      if (limit !== undefined) units.set(shape, { at: Date.now(), limit })
      return limit
    },
  }
}

async function getToken(client: SolanaClient, mint: string): Promise<Token> {
  const found = await readMint(client, mint)
  if (!found) throw new Error(`No mint at ${mint}`)
  return found
}

function remember<T>(read: () => Promise<T>, ms = Number.POSITIVE_INFINITY): () => Promise<T> {
  let known: { at: number; value: Promise<T> } | undefined
  return () => {
    if (known && Date.now() - known.at < ms) return known.value
    const value = read()
    known = { at: Date.now(), value }
    value.catch(() => {
      known = undefined
    })
    return value
  }
}
