import { every } from '../async/timing.ts'
import { convertDown, type Priced, toCentsUp, usdE18 } from '../model/amount.ts'
import { type Catalog, findToken } from '../model/catalog.ts'
import { withSlippage } from '../model/pricing.ts'
import type { Swap } from '../model/swap.ts'
import { isPurchase } from '../model/venue.ts'
import type { PriceBook } from './prices/book.ts'

const OFF_CHAIN_MS = 500

type Options = {
  catalog: Catalog
  book: PriceBook
  /** How far the market may move against the operator, whatever the op says. */
  toleranceBps: number
  /** Whether the op's venue buys outputs on its destination. */
  isBuyer(op: Output): boolean
  /** Called after every awaited reading. */
  onRead(): void
}

type Input = Pick<Swap['op'], 'originChain' | 'inputToken' | 'inputAmount' | 'swappable'>
type Output = Pick<
  Swap['op'],
  'destinationChain' | 'venue' | 'outputToken' | 'quotedOutput' | 'payToken' | 'payAmount' | 'priceFloor'
>

/**
 * Prices for the worker. Reads on-chain feeds from the views on demand, and others in the background, because a lane
 * must not wait for an external server.
 */
export function createPriceCheck({ catalog, book, toleranceBps, isBuyer, onRead }: Options) {
  const onChains = book.sources.filter(({ chainId }) => chainId !== undefined)
  const offChain = book.sources.filter(({ chainId }) => chainId === undefined)
  let loops: { stop(): void }[] = []

  return {
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
    /** The value of the op in USD cents: its input, or its payment if that is more; undefined without a price. */
    valueCentsOf({ op }: { op: Input & Output }): bigint | undefined {
      const sides = pricedSides({ catalog, book }, op)
      return sides && toCentsUp(most(usdE18(op.inputAmount, sides.input), usdE18(sides.amount, sides.paid)))
    },
    /** Whether the input still buys at least the amount that the slippage limit allows; undefined without a price. */
    isKept({ op }: { op: Input & Output }): boolean | undefined {
      // A forged op could name a cheap token to buy with where the vault pays the output itself.
      if (isPurchase(op) !== isBuyer(op)) return false
      const sides = pricedSides({ catalog, book }, op)
      if (!sides) return undefined
      // Both values come from the op's token: an attacker with a sealing key could write others.
      const swappable = least(op.swappable, op.inputAmount)
      const floor = most(op.priceFloor, withSlippage(sides.amount, toleranceBps))
      return convertDown(swappable, sides.input, sides.paid) >= floor
    },
  }
}

type Market = Pick<Options, 'catalog' | 'book'>

/** The prices of the input and of the token that leaves the vault, and the amount of the latter. */
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

/** The payment out of the vault: the output itself, or the budget for buying it. */
function leavingVault(op: Output) {
  return isPurchase(op)
    ? { token: op.payToken, amount: op.payAmount }
    : { token: op.outputToken, amount: op.quotedOutput }
}

const least = (a: bigint, b: bigint) => (a < b ? a : b)
const most = (a: bigint, b: bigint) => (a > b ? a : b)
