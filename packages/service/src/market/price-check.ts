import { every } from '../async/timing.ts'
import { largest, type Priced, toCentsUp, usdE18 } from '../swap/amount.ts'
import { type Catalog, type Exchange, findToken, type Token } from '../swap/catalog.ts'
import {
  followPrice,
  leavingVault,
  type Paid,
  type PriceTolerance,
  pairClassOf,
  toleranceOf,
  withSlippage,
  worthOf,
} from '../swap/pricing.ts'
import type { Swap } from '../swap/swap.ts'
import { isPurchase } from '../swap/venue.ts'
import { type PriceBook, toExchange } from './prices/book.ts'

const OFF_CHAIN_MS = 500

type Options = {
  catalog: Catalog
  book: PriceBook
  tolerance: PriceTolerance
  thinSpreadBps: number
  /** Whether the op's venue buys outputs on its destination. */
  isBuyer(op: Pick<PricedOp, 'venue' | 'destinationChain'>): boolean
  /** Called after every awaited reading. */
  onRead(): void
}

export type PricedOp = Pick<
  Swap['op'],
  | ('originChain' | 'inputToken' | 'inputAmount' | 'swappable')
  | ('destinationChain' | 'venue' | 'outputToken' | 'quotedOutput' | 'minOutput')
  | ('payToken' | 'payAmount' | 'priceFloor')
>

type Judging = Pick<Options, 'catalog' | 'book' | 'tolerance' | 'thinSpreadBps' | 'isBuyer'>

/** Judges the prices of ops by the last reading of the book. See docs/decisions.md#the-quoted-output-or-the-market. */
export function createPriceJudge({ catalog, book, tolerance, thinSpreadBps, isBuyer }: Judging) {
  /** Both tokens at the operator's prices. */
  function exchangedSides(op: PricedOp) {
    const tokens = tokensOf(catalog, op)
    if (!tokens) return undefined
    const assets = { input: tokens.input.asset, output: tokens.paid.asset }
    const prices = toExchange(book, assets, thinSpreadBps) ?? withoutPrice(assets)
    return (
      prices && {
        tokens,
        input: priced(tokens.input, prices.input),
        paid: priced(tokens.paid, prices.output),
      }
    )
  }
  const priceOf = (asset: string) => book.referenceOf(asset).price
  // A forged op could name a cheap token to buy with where the vault pays the output itself.
  const isForged = (op: PricedOp) => isPurchase(op) !== isBuyer(op)

  return {
    /**
     * The payment of the op if it is locked now; `moved` if that is below its minimum, undefined without a price.
     * Assets that do not follow each other have none until their feeds are known as of this time of the database:
     * else a caller could submit at a price that he saw change.
     */
    paidNow(op: PricedOp, at?: number): Paid | 'moved' | undefined {
      if (isForged(op)) return 'moved'
      const sides = exchangedSides(op)
      if (!sides) return undefined
      const { input, paid } = sides.tokens
      const pair = pairClassOf(catalog, { input, output: paid }, priceOf)
      const isOld = ({ asset }: Token) => at !== undefined && at >= (book.referenceOf(asset).asOf ?? at + 1)
      if (pair === 'volatile' && (isOld(input) || isOld(paid))) return undefined
      return followPrice(op, sides, toleranceOf(tolerance, pair))
    },
    /** Whether a locked input still buys about its payment, which no longer changes; undefined without a price. */
    isKept({ op }: { op: PricedOp }): boolean | undefined {
      if (isForged(op)) return false
      const sides = exchangedSides(op)
      return sides && worthOf(op, sides) >= withSlippage(leavingVault(op).amount, tolerance.lockedBps)
    },
    /** The value of the op in USD cents: its input, or its payment if that is more; undefined without a price. */
    valueCentsOf({ op }: { op: PricedOp }): bigint | undefined {
      const tokens = tokensOf(catalog, op)
      if (!tokens) return undefined
      const [given, taken] = [priceOf(tokens.input.asset), priceOf(tokens.paid.asset)]
      if (given === undefined || taken === undefined) return undefined
      const { amount } = leavingVault(op)
      const values = [
        usdE18(op.inputAmount, priced(tokens.input, given)),
        usdE18(amount, priced(tokens.paid, taken)),
      ]
      return toCentsUp(largest(...values))
    },
  }
}

/**
 * Prices for the worker. Reads on-chain feeds from the views on demand, and others in the background, because a lane
 * must not wait for an external server.
 */
export function createPriceCheck(options: Options) {
  const { book, onRead } = options
  const onChains = book.sources.filter(({ chainId }) => chainId !== undefined)
  const offChain = book.sources.filter(({ chainId }) => chainId === undefined)
  let loops: { stop(): void }[] = []

  return {
    ...createPriceJudge(options),
    start() {
      for (const source of offChain) void book.refresh(source)
      loops = offChain.map((source) => every(OFF_CHAIN_MS, async () => void (await book.refresh(source))))
    },
    stop() {
      for (const loop of loops) loop.stop()
    },
    /** The price of an asset as of the last reading. */
    priceOf: (asset: string) => book.referenceOf(asset).price,
    /** Resolves when the prices are those of the newest views. */
    async refresh(): Promise<void> {
      await Promise.all(onChains.map(book.refresh))
      onRead()
    },
  }
}

/** One asset is worth itself, whatever it is worth. */
function withoutPrice({ input, output }: { input: string; output: string }): Exchange | undefined {
  return input === output ? { input: 1n, output: 1n } : undefined
}

const priced = ({ decimals }: Token, price: bigint): Priced => ({ decimals, price })

/** The input token, and the token that leaves the vault. */
function tokensOf({ chains }: Catalog, op: PricedOp): { input: Token; paid: Token } | undefined {
  const [origin, destination] = [chains.get(op.originChain), chains.get(op.destinationChain)]
  const input = origin && findToken(origin, op.inputToken)
  const paid = destination && findToken(destination, leavingVault(op).token)
  return input && paid && { input, paid }
}
