import type { PriceBook } from '../market/prices/book.ts'
import type { PriceSource } from '../market/prices/source.ts'
import { convertDown, type Priced, toCentsUp, usdE18 } from '../model/amount.ts'
import { type Catalog, findToken } from '../model/catalog.ts'
import { withSlippage } from '../model/pricing.ts'
import type { Swap } from '../model/swap.ts'
import { INVENTORY } from '../model/venue.ts'
import { every, within } from './timing.ts'

// A lane waits no longer than this for a node; what is remembered then still has to be fresh.
const WAIT_MS = 1_000
// Blocks of a chain may be further apart than what is remembered stays fresh.
const REREAD_MS = 2_000
const OFF_CHAIN_MS = 500

type Options = {
  catalog: Catalog
  book: PriceBook
  /** How far the market may move against the operator, whatever the op says. */
  toleranceBps: number
  /** The newest head seen of a chain; undefined while it stands still, when there is nothing new to read. */
  headOf(chainId: number): string | undefined
  /** Called after every reading that somebody waited for. */
  onRead(): void
}

type Input = Pick<Swap['op'], 'originChain' | 'inputToken' | 'inputAmount' | 'swappable'>
type Output = Pick<
  Swap['op'],
  'destinationChain' | 'venue' | 'outputToken' | 'quotedOutput' | 'payToken' | 'payAmount' | 'priceFloor'
>

type Known = { head: string; at: number; reading: Promise<unknown> }

/**
 * Prices for the worker. Feeds on chains are read when they are needed, once for every new head; others
 * are read in the background, because a lane must not wait for a server outside.
 */
export function createPriceCheck({ catalog, book, toleranceBps, headOf, onRead }: Options) {
  const known = new Map<PriceSource, Known>()
  const onChains = book.sources.filter(({ chainId }) => chainId !== undefined)
  const offChain = book.sources.filter(({ chainId }) => chainId === undefined)
  let loops: { stop(): void }[] = []

  async function readAtHead(source: PriceSource): Promise<unknown> {
    const head = source.chainId === undefined ? undefined : headOf(source.chainId)
    if (head === undefined) return
    const before = known.get(source)
    if (before?.head === head && Date.now() - before.at < REREAD_MS) return before.reading
    const answered = book.refresh(source).then((isAnswered) => {
      // Without an answer the next one who asks tries again.
      if (!isAnswered && known.get(source) === reading) known.delete(source)
    })
    const reading: Known = { head, at: Date.now(), reading: within(WAIT_MS, answered) }
    known.set(source, reading)
    return reading.reading
  }

  return {
    start() {
      for (const source of offChain) void book.refresh(source)
      loops = offChain.map((source) => every(OFF_CHAIN_MS, async () => void (await book.refresh(source))))
    },
    stop() {
      for (const loop of loops) loop.stop()
    },
    /** Resolves when the prices are those of the newest heads seen, or a node takes too long. */
    async refresh(): Promise<void> {
      await Promise.all(onChains.map(readAtHead))
      onRead()
    },
    /** What the op moves in USD cents: its input, or what is paid if that is more; undefined without a price. */
    valueCentsOf({ op }: { op: Input & Output }): bigint | undefined {
      const sides = pricedSides({ catalog, book }, op)
      return sides && toCentsUp(most(usdE18(op.inputAmount, sides.input), usdE18(sides.amount, sides.paid)))
    },
    /** Whether the input still buys at least what the slippage limit allows; undefined without a price. */
    isKept({ op }: { op: Input & Output }): boolean | undefined {
      const sides = pricedSides({ catalog, book }, op)
      if (!sides) return undefined
      // Both were in the token that the op was built from: whoever has a key that seals could write others.
      const swappable = least(op.swappable, op.inputAmount)
      const floor = most(op.priceFloor, withSlippage(sides.amount, toleranceBps))
      return convertDown(swappable, sides.input, sides.paid) >= floor
    },
  }
}

type Market = Pick<Options, 'catalog' | 'book'>

/** The prices of what comes in and of what leaves the vault for it, and how much that is. */
function pricedSides(market: Market, op: Input & Output) {
  const { token, amount } = leavingVault(op)
  const input = pricedToken(market, op.originChain, op.inputToken)
  const paid = pricedToken(market, op.destinationChain, token)
  return input && paid && { input, paid, amount }
}

function pricedToken({ catalog, book }: Market, chainId: number, address: string): Priced | undefined {
  const chain = catalog.chains.get(chainId)
  const token = chain && findToken(chain, address)
  const price = token && book.referenceOf(token.asset).price
  return token && price !== undefined ? { decimals: token.decimals, price } : undefined
}

/** What the operator gives for the input: the output itself, or at most this for buying it. */
function leavingVault({ venue, outputToken, quotedOutput, payToken, payAmount }: Output) {
  return venue === INVENTORY
    ? { token: outputToken, amount: quotedOutput }
    : { token: payToken, amount: payAmount }
}

const least = (a: bigint, b: bigint) => (a < b ? a : b)
const most = (a: bigint, b: bigint) => (a > b ? a : b)
