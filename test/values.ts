import type { QuoteReply } from '@geoswap/wire'
import { parseAbi } from 'viem'
import type { LocalNetwork, World } from './world.ts'

// The values of amounts by the feeds' own answers. The arithmetic is exact and independent of the service.

/** A token from the network's files and feeds; the price is USD per whole token, times 10^18. */
export type Valued = {
  chainId: number
  family: 'evm' | 'solana'
  symbol: string
  address: string
  decimals: number
  price: bigint
}

const feedAbi = parseAbi([
  'function latestRoundData() view returns (uint80, int256 answer, uint256, uint256, uint80)',
])

/** Every token of every chain, at the median of its feeds' current answers. */
export async function readTokens(world: Pick<World, 'local' | 'chains'>): Promise<Valued[]> {
  const prices = await readPrices(world)
  return world.local.chains.flatMap(({ chainId, family, tokens }) =>
    tokens.map((token) => {
      const price = prices.get(assetOf(token.symbol))
      if (price === undefined) throw new Error(`No feed tells a price of ${token.symbol}`)
      return { chainId, family, price, ...token }
    }),
  )
}

const assetOf = (symbol: string) => (symbol === 'WETH' ? 'ETH' : symbol)

/** An asset has a feed on each of two chains, so the median is the mean. */
async function readPrices({ local, chains }: Pick<World, 'local' | 'chains'>): Promise<Map<string, bigint>> {
  const answers = new Map<string, bigint[]>()
  await Promise.all(
    local.feeds.map(async (feed) => {
      const answer = await readAnswer(chains, feed)
      const price = answer * 10n ** BigInt(18 - feed.decimals)
      answers.set(feed.asset, [...(answers.get(feed.asset) ?? []), price])
    }),
  )
  const meanOf = (all: readonly bigint[]) => all.reduce((sum, one) => sum + one, 0n) / BigInt(all.length)
  return new Map([...answers].map(([asset, all]) => [asset, meanOf(all)]))
}

async function readAnswer(chains: World['chains'], { chainId, address }: LocalNetwork['feeds'][number]) {
  const client = chains.find((chain) => chain.chainId === chainId)?.client
  if (!client) throw new Error(`A feed is on chain ${chainId}, which is not an EVM chain here`)
  const [, answer] = await client.readContract({ address, abi: feedAbi, functionName: 'latestRoundData' })
  return answer
}

type Priced = Pick<Valued, 'decimals' | 'price'>

// No token here has more decimals.
const MOST_DECIMALS = 24

/** USD times 10^42, exactly. */
export function worthOf(amount: bigint, { decimals, price }: Priced): bigint {
  return amount * price * 10n ** BigInt(MOST_DECIMALS - decimals)
}

/** A cent in the scale of `worthOf`. */
export const CENT = 10n ** BigInt(MOST_DECIMALS + 18 - 2)

/** USD with two digits, to the nearest cent. */
export function usdOf(amount: bigint, token: Priced): string {
  const cents = (worthOf(amount, token) + CENT / 2n) / CENT
  return `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`
}

export const toCents = (usd = '0') => BigInt(usd.replace('.', ''))

type Explained = Pick<QuoteReply, 'input' | 'output' | 'fees'>

/**
 * The value that the fees leave unexplained between the two sides, exact: negative if they take too little.
 */
export function unexplained({ input, output, fees }: Explained, sides: { input: Priced; output: Priced }) {
  const taken = fees.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  return worthOf(BigInt(input) - taken, sides.input) - worthOf(BigInt(output), sides.output)
}
