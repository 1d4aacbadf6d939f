import { geoVaultAbi } from '@geoswap/protocol'
import type { QuoteReply } from '@geoswap/wire'
import { generateKeyPairSigner } from '@solana/kit'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { createCheckedClient, refusalOf } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import { CENT, readTokens, toCents, unexplained, usdOf, type Valued, worthOf } from '../values.ts'
import { createWorld, until, type WorldChain } from '../world.ts'

const local = inject('local')
const world = createWorld(local)
const { alpha, beta } = world
const api = createCheckedClient({ ...local, apiKey: await createOperator(inject('databaseUrl')).createKey() })
const tokens = await readTokens(world)
const parties = {
  evm: privateKeyToAddress(generatePrivateKey()),
  solana: (await generateKeyPairSigner()).address,
}

type Route = { input: Valued; output: Valued }
type Ask = { amount: bigint; tradeType?: 'exactInput' | 'exactOutput' }

const chainName = (chainId: number) => local.chains.find((chain) => chain.chainId === chainId)?.name
const nameOf = ({ input, output }: Route) =>
  `${input.symbol} on ${chainName(input.chainId)} to ${output.symbol} on ${chainName(output.chainId)}`

/** By names such as `alpha USDC`. */
function routeOf(from: string, to: string): Route {
  const find = (name: string) => {
    const token = tokens.find(({ chainId, symbol }) => `${chainName(chainId)} ${symbol}` === name)
    if (!token) throw new Error(`There is no ${name}`)
    return token
  }
  return { input: find(from), output: find(to) }
}

const quote = ({ input, output }: Route, { amount, tradeType = 'exactInput' }: Ask) =>
  api.quote({
    ...{ originChain: input.chainId, inputToken: input.address, walletAddress: parties[input.family] },
    ...{ destinationChain: output.chainId, outputToken: output.address, recipient: parties[output.family] },
    ...{ amount: `${amount}`, tradeType },
  })

/** A quote that must succeed. */
async function quoted(route: Route, ask: Ask): Promise<QuoteReply> {
  const reply = await quote(route, ask)
  expect(`${nameOf(route)}: ${refusalOf(reply)}`).toBe(`${nameOf(route)}: 200 OK`)
  return reply.body
}

/** Repeats all requests if gas or liquidity changed meanwhile, so that the answers belong together. */
async function atOneMoment<T>(route: Route, ask: () => Promise<T>): Promise<T> {
  const look = async () => {
    const { output, fees } = await quoted(route, { amount: worth(1_000, route.input) })
    return JSON.stringify([output, fees])
  }
  return until(async () => {
    const before = await look()
    const answers = await ask()
    return (await look()) === before && answers
  })
}

/** The amount of a token worth this many dollars. */
const worth = (usd: number, { price, decimals }: Valued) =>
  (BigInt(usd) * 10n ** BigInt(18 + decimals)) / price

const feeOf = ({ fees }: QuoteReply, kind: string) =>
  BigInt(fees.find((fee) => fee.kind === kind)?.amount ?? 0)

// The value that empty blocks converge to: from here on gas costs the same in every block.
const LOWEST_BASE_FEE = 7n

beforeAll(async () => {
  for (const { client, mine } of [alpha, beta]) {
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: LOWEST_BASE_FEE })
    await mine()
  }
})

describe('the fees of a quote', () => {
  const every = tokens.flatMap((input) =>
    tokens.filter((output) => output !== input).map((output) => ({ input, output })),
  )

  /** Contradictions within a quote; empty if there are none. */
  function problemsOf(route: Route, reply: QuoteReply): string[] {
    const { input, output, fees, inputUsd, outputUsd } = reply
    const cents = fees.reduce((sum, { usd }) => sum + toCents(usd), 0n)
    const left = unexplained(reply, route)
    const checks = {
      'inputUsd is not the value of the input': inputUsd === usdOf(BigInt(input), route.input),
      'outputUsd is not the value of the output': outputUsd === usdOf(BigInt(output), route.output),
      'the fees in USD do not add up': cents === toCents(inputUsd) - toCents(outputUsd),
      'a fee in USD is not that of its amount': fees.every(({ amount, usd }) => {
        const away = worthOf(BigInt(amount), route.input) - toCents(usd) * CENT
        return away < CENT && away > -CENT
      }),
      'the fees take too much': left >= 0n,
      'the fees leave a unit unexplained': left < worthOf(1n, route.input),
      'priceImpactBps is missing': reply.priceImpactBps !== undefined,
    }
    const wrong = Object.entries(checks).filter(([, isRight]) => !isRight)
    return wrong.map(([problem]) => `${nameOf(route)}: ${problem}`)
  }

  test.each(['exactInput', 'exactOutput'] as const)(
    'are the whole difference to the reference price, to the unit and to the cent, on every route: %s',
    async (tradeType) => {
      const problems = await Promise.all(
        every.map(async (route) => {
          const side = tradeType === 'exactInput' ? route.input : route.output
          return problemsOf(route, await quoted(route, { amount: worth(1_234, side), tradeType }))
        }),
      )

      expect(every.length).toBeGreaterThan(180)
      expect(problems.flat()).toEqual([])
    },
  )

  test('are the whole difference for the smallest and for a huge amount too', async () => {
    const routes = [routeOf('beta USDC', 'alpha USDC'), routeOf('alpha USDC', 'beta LINK')]
    const asks = [{ amount: 1n, tradeType: 'exactOutput' as const }]

    for (const route of routes) {
      const huge = { amount: worth(200_000, route.input) }
      const replies = await Promise.all([...asks, huge].map((ask) => quoted(route, ask)))
      expect(replies.flatMap((reply) => problemsOf(route, reply))).toEqual([])
    }
  })
})

const inverted = [
  routeOf('alpha USDC', 'beta WETH'),
  routeOf('beta USDC', 'alpha USDC'),
  routeOf('alpha USDC', 'beta USDC'),
  routeOf('beta GEO', 'beta ETH'),
  routeOf('alpha USDC', 'alpha LINK'),
  routeOf('beta LINK', 'alpha USDC'),
  routeOf('alpha WETH', 'beta LINK'),
  routeOf('solana USDC', 'beta LINK'),
  routeOf('alpha ETH', 'solana GEO'),
].map((route) => [nameOf(route), route] as const)

// If a unit of the input is worth many units of the output, the input buys slightly more than the requested
// output.
test.each(inverted)(
  'an exact output costs the smallest input that buys as much, to the unit: %s',
  async (_name, route) => {
    for (const usd of [3, 7_000, 90_000]) {
      const wanted = worth(usd, route.output) + 1n

      const { least, enough, short } = await atOneMoment(route, async () => {
        const exact = await quoted(route, { amount: wanted, tradeType: 'exactOutput' })
        const [same, less] = await Promise.all([
          quoted(route, { amount: BigInt(exact.input) }),
          quoted(route, { amount: BigInt(exact.input) - 1n }),
        ])
        return { least: exact, enough: same, short: less }
      })

      expect([least.output, least.minOutput]).toEqual([`${wanted}`, `${wanted}`])
      expect(BigInt(enough.output)).toBeGreaterThanOrEqual(wanted)
      expect(BigInt(short.output)).toBeLessThan(wanted)
    }
  },
)

describe('price impact', () => {
  /** Its share of the input at the reference price, in millionths. */
  function shareOf(reply: QuoteReply): number {
    const impact = feeOf(reply, 'priceImpact')
    const costs = ['serviceFee', 'originNetwork', 'deliveryNetwork', 'accountRent'] as const
    const left = costs.reduce((sum, kind) => sum - feeOf(reply, kind), BigInt(reply.input))
    return Number((impact * 1_000_000n) / left)
  }

  test.each([
    ['the vault', routeOf('beta USDC', 'alpha GEO')],
    ['a pool', routeOf('beta USDC', 'alpha LINK')],
  ])('grows with the size of the sale on %s, and is listed separately', async (_name, route) => {
    const replies = await Promise.all(
      [100, 10_000, 100_000, 200_000].map((usd) => quoted(route, { amount: worth(usd, route.input) })),
    )

    const shares = replies.map(shareOf)
    expect(shares).toEqual([...new Set(shares)].sort((a, b) => a - b))
    const total = replies.map(({ priceImpactBps }) => priceImpactBps ?? 0)
    expect(total.at(-1)).toBeLessThanOrEqual(total[1] ?? 0)
  })

  /** The amount that the vault can pay now, read from its chain. */
  async function readAvailable(chain: WorldChain, symbol: string): Promise<bigint> {
    const { vault: address } = chain.contracts
    const args = [chain.token(symbol)] as const
    const [held, [limit, spent]] = await Promise.all([
      chain.balanceOf(address, symbol),
      chain.client.readContract({ address, abi: geoVaultAbi, functionName: 'caps', args }),
    ])
    return held < limit - spent ? held : limit - spent
  }

  test('of a quarter of the inventory is an eighth of a percent beside the spread, and more is refused', async () => {
    const route = routeOf('beta USDC', 'beta GEO')
    const beyond = 10n ** 40n

    const { most, largest } = await until(async () => {
      const output = await quote(route, { amount: beyond, tradeType: 'exactOutput' })
      const input = await quote(route, { amount: beyond })
      const [most, amount] = [output, input].map(({ body }) => BigInt(`${body.recovery?.maxAmount}`))
      const largest = await quote(route, { amount: amount ?? 0n })
      const held = await readAvailable(beta, 'GEO')
      // The service sees the chain's state with a short delay.
      // The vault keeps the fraction of a unit.
      const quarter = held / 4n
      const isMost = most === quarter - (quarter * quarter * 50n + held * 10_000n - 1n) / (held * 10_000n)
      return isMost && largest.status === 200 && { most, largest: largest.body }
    })

    // A unit of the input is worth two of the output.
    expect(most - BigInt(largest.output)).toBeLessThan(2n)
    // An eighth of a percent, and the spread of assets with two sources.
    expect(Math.round(shareOf(largest) / 10)).toBe(175)
  })
})

test('HIGH_PRICE_IMPACT warns from a loss of exactly 5.00% on, and states the loss', async () => {
  const route = routeOf('beta ETH', 'alpha GEO')

  const { last, next } = await atOneMoment(route, async () => {
    const isWarned = async (amount: bigint) => {
      const reply = await quote(route, { amount })
      return reply.status !== 200 || (reply.body.priceImpactBps ?? 0) <= -500
    }
    let [low, high] = [1n, worth(100, route.input)]
    while (low + 1n < high) {
      const middle = (low + high) / 2n
      if (await isWarned(middle)) low = middle
      else high = middle
    }
    return { last: await quoted(route, { amount: low }), next: await quoted(route, { amount: high }) }
  })
  const small = await quoted(route, { amount: BigInt(last.input) / 2n })

  expect(last).toMatchObject({ priceImpactBps: -500, warnings: [{ code: 'HIGH_PRICE_IMPACT' }] })
  expect(last.warnings?.[0]?.message).toContain('5.00%')
  expect(next.priceImpactBps).toBe(-499)
  expect(next.warnings).toBeUndefined()
  const percent = (-(small.priceImpactBps ?? 0) / 100).toFixed(2)
  expect(Number(percent)).toBeGreaterThan(9)
  expect(small.warnings).toEqual([
    { code: 'HIGH_PRICE_IMPACT', message: expect.stringContaining(`${percent}%`) },
  ])
})

describe('an output without a reference price', () => {
  const route = routeOf('alpha USDC', 'beta LINK')
  const valueFields = ['inputUsd', 'outputUsd', 'priceImpactBps', 'warnings']
  type Quoted = { body: { input: string; output: string; fees: readonly { kind: string; amount: string }[] } }
  const boughtPerUnit = ({ body: { input, output, fees } }: Quoted) => {
    const paid = fees.filter(({ kind }) => kind !== 'priceImpact')
    const spent = paid.reduce((total, { amount }) => total + BigInt(amount), 0n)
    return (BigInt(output) / (BigInt(input) - spent)).toString().slice(0, 6)
  }
  const isValued = ({ body }: { body: object }) => valueFields.filter((field) => field in body)

  test('is sold by a pool without a value; as an input it has no price', async () => {
    const before = await quote(route, { amount: worth(100, route.input) })
    await world.setPrice('LINK', 0)
    try {
      const reply = await until(async () => {
        const answer = await quote(route, { amount: worth(100, route.input) })
        return answer.body.inputUsd === undefined && answer
      })
      const asInput = await quote(routeOf('alpha LINK', 'beta USDC'), { amount: 10n ** 18n })

      expect(isValued(before)).toEqual(['inputUsd', 'outputUsd', 'priceImpactBps'])
      expect(refusalOf(reply)).toBe('200 OK')
      expect(isValued(reply)).toEqual([])
      const kinds = reply.body.fees.map(({ kind }) => kind)
      expect(kinds).toEqual(['serviceFee', 'originNetwork', 'deliveryNetwork'])
      // Gas has a new price in each block: the rest of the input buys as much as before.
      expect(boughtPerUnit(reply)).toBe(boughtPerUnit(before))
      expect(refusalOf(asInput)).toBe('503 PRICE_UNAVAILABLE')
      expect(asInput.body.details).toEqual({ asset: 'LINK' })
    } finally {
      await world.setPrice('LINK', 20)
      await Promise.all([alpha.mine(), beta.mine()])
      await until(async () => isValued(await quote(route, { amount: worth(100, route.input) })).length > 0)
    }
  })
})

test('422 NO_ROUTE for every token to itself, on every chain', async () => {
  const replies = await Promise.all(
    tokens.map((token) => quote({ input: token, output: token }, { amount: worth(10, token) })),
  )

  expect(new Set(replies.map(refusalOf))).toEqual(new Set(['422 NO_ROUTE']))
})
