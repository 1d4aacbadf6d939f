import { geoEscrowAbi, geoVaultAbi } from '@geoswap/protocol'
import type { QuoteReply, StatusReply } from '@geoswap/wire'
import { type Address, encodeFunctionData } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { createCheckedClient } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import { openPool, spentIn } from '../pools.ts'
import { submitSolanaSwap } from '../solana-orders.ts'
import { createSolanaWorld } from '../solana-world.ts'
import { readTokens, toCents, unexplained, worthOf } from '../values.ts'
import {
  createWorld,
  hurryToEnd,
  type Order,
  outcomeOf,
  prepare,
  quoteOnceSettled,
  stageOf,
  submitPrepared,
  submitSwap,
  toRequest,
  until,
  type WorldChain,
} from '../world.ts'

const local = inject('local')
const world = createWorld(local)
const { alpha, beta } = world
const api = createCheckedClient({ ...local, apiKey: await createOperator(inject('databaseUrl')).createKey() })
const [linkPool, wethPool] = await Promise.all([openPool(world, beta, 'LINK'), openPool(world, beta, 'WETH')])

const USDC = 1_000_000n
const ETHER = 10n ** 18n
const INPUT = 100n * USDC
const order = { from: alpha, sell: 'USDC', to: beta, buy: 'LINK', amount: INPUT }
const anyone = { address: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8' as Address }

const ask = (wanted: Order) => quoteOnceSettled(api, toRequest(anyone, wanted))
const outputOf = async (buy: string) => BigInt((await ask({ ...order, buy })).output)
const usual = { LINK: await outputOf('LINK'), WETH: await outputOf('WETH') }

/** Waits for a quote with this share of the usual output. Gas moves it slightly. */
const untilQuoted = (buy: 'LINK' | 'WETH', isMeant: (bps: number) => boolean) =>
  until(async () => isMeant(Number(((await outputOf(buy)) * 10_000n) / usual[buy])))
const isUsual = (bps: number) => Math.abs(bps - 10_000) <= 5

afterEach(async () => {
  await alpha.resume()
  await linkPool.restore()
  await wethPool.restore()
  await untilQuoted('LINK', isUsual)
  await untilQuoted('WETH', isUsual)
})

test('attesters may refund every token, also one that the vault only buys', async () => {
  const tokens = local.chains.flatMap(({ name, family, tokens }) =>
    family === 'evm' ? tokens.map((token) => ({ ...token, chain: world.chainNamed(name) })) : [],
  )
  const caps = await Promise.all(
    tokens.map(({ chain, address }) =>
      chain.client.readContract({
        ...{ address: chain.contracts.escrow, abi: geoEscrowAbi, functionName: 'refundCaps' },
        args: [address as Address],
      }),
    ),
  )

  expect(tokens.filter((_, index) => (caps[index]?.[0] ?? 0n) === 0n).map(({ symbol }) => symbol)).toEqual([])
})

/** The value of the USDC that the vault spent on a delivery, and of the input it received, both exact. */
async function spending(chain: WorldChain, { deliveryTxHash, amounts }: StatusReply, sold: string) {
  const tokens = await readTokens(world)
  const of = (chainId: number, symbol: string) => {
    const token = tokens.find((each) => each.chainId === chainId && each.symbol === symbol)
    if (!token) throw new Error(`There is no ${symbol} on ${chainId}`)
    return token
  }
  const { vault } = chain.contracts
  const spent = await spentIn(chain, { owner: vault, symbol: 'USDC', txHash: deliveryTxHash })
  return {
    spent: worthOf(spent, of(chain.chainId, 'USDC')),
    given: worthOf(BigInt(amounts.input), of(alpha.chainId, sold)),
  }
}

const walletWith = (symbol: string, amount: bigint) => world.walletWith(alpha, symbol, amount)

// Sequential: two purchases in one block would move the price of the second.
describe('an output that the vault does not hold is bought from a pool and delivered', () => {
  test.each([
    ['from another chain', beta, 'USDC', INPUT],
    ['on the same chain', alpha, 'USDC', INPUT],
    ['for a token that is not a dollar', beta, 'WETH', ETHER / 10n],
  ])(
    '%s, to the quoted unit and for no more than the value of the input',
    async (_name, to, sell, amount) => {
      const wallet = await walletWith(sell, amount)

      const { quote, swapId } = await submitSwap({ api }, wallet, { ...order, sell, to, amount })
      const outcome = await outcomeOf({ api }, swapId)

      expect(outcome.status).toBe('settled')
      expect(outcome.amounts.delivered).toBe(quote.output)
      expect(await to.balanceOf(wallet.address, 'LINK')).toBe(BigInt(quote.output))
      expect(await alpha.balanceOf(wallet.address, sell)).toBe(0n)
      expect(await to.balanceOf(to.contracts.vault, 'LINK')).toBe(0n)
      const { spent, given } = await spending(to, outcome, sell)
      expect(spent).toBeGreaterThan(0n)
      expect(spent).toBeLessThan(given)
    },
  )

  test('for USDC on Solana', async () => {
    const solana = await createSolanaWorld(local)
    const wallet = await solana.wallet({ USDC: INPUT })
    const recipient = privateKeyToAddress(generatePrivateKey())

    const route = { sell: 'USDC', to: beta, buy: 'LINK', amount: INPUT, recipient }
    const { quote, swapId } = await submitSolanaSwap({ api, solana }, wallet, route)
    const outcome = await outcomeOf({ api }, swapId)

    expect(outcome.status).toBe('settled')
    expect(await beta.balanceOf(recipient, 'LINK')).toBe(BigInt(quote.output))
    expect(await solana.balanceOf(wallet.address, solana.token('USDC'))).toBe(0n)
    const { spent, given } = await spending(beta, outcome, 'USDC')
    expect(spent).toBeLessThan(given)
  })

  test('as an exact output, to the unit', async () => {
    const wallet = await walletWith('USDC', INPUT)

    const exact = { ...order, amount: 3n * ETHER + 1n, tradeType: 'exactOutput' as const }
    const { quote, swapId } = await submitSwap({ api }, wallet, exact)

    expect((await outcomeOf({ api }, swapId)).status).toBe('settled')
    expect(await beta.balanceOf(wallet.address, 'LINK')).toBe(3n * ETHER + 1n)
    expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(INPUT - BigInt(quote.input))
  })
})

describe('a token that only pools sell can be the input', () => {
  /**
   * Empties the vault of LINK, and waits until the service knows: a purchase costs more gas than a payment.
   */
  async function emptyVault(): Promise<void> {
    const { vault: address } = alpha.contracts
    const owner = await alpha.client.readContract({ address, abi: geoVaultAbi, functionName: 'TREASURY' })
    const held = await alpha.balanceOf(address, 'LINK')
    const args = [alpha.token('LINK'), owner, held] as const
    const data = encodeFunctionData({ abi: geoVaultAbi, functionName: 'withdraw', args })
    await alpha.as(owner, { to: address, data })
    await alpha.mine()
    await until(async () => {
      const [bought, paid] = await Promise.all(
        ['LINK', 'GEO'].map((buy) => ask({ ...order, to: alpha, buy })),
      )
      return bought && paid && deliveryCostOf(bought) > deliveryCostOf(paid)
    })
  }
  const deliveryCostOf = ({ fees }: QuoteReply) =>
    BigInt(fees.find(({ kind }) => kind === 'deliveryNetwork')?.amount ?? 0)

  test('LINK becomes USDC on another chain, and is claimed into the vault', async () => {
    const wallet = await walletWith('LINK', 5n * ETHER)

    const route = { from: alpha, sell: 'LINK', to: beta, buy: 'USDC', amount: 5n * ETHER }
    const { quote, swapId } = await submitSwap({ api }, wallet, route)
    const outcome = await outcomeOf({ api }, swapId)
    try {
      expect(outcome.status).toBe('settled')
      expect(await beta.balanceOf(wallet.address, 'USDC')).toBe(BigInt(quote.output))
      expect(await alpha.balanceOf(wallet.address, 'LINK')).toBe(0n)
      const held = () => alpha.balanceOf(alpha.contracts.vault, 'LINK')
      await until(async () => (await held()) === 5n * ETHER)
    } finally {
      await emptyVault()
    }
  })
})

describe('a pool that moves between quote and delivery', () => {
  /** Submits while the origin is halted, so that the pool can move after the service has decided to lock. */
  async function submitUnmined(orders: readonly Order[]) {
    const prepared = await Promise.all(
      orders.map(async (each) => {
        const wallet = await walletWith(each.sell, INPUT)
        return { wallet, ...(await prepare({ api }, wallet, each)) }
      }),
    )
    await alpha.halt()
    const submitted = await Promise.all(prepared.map((each) => submitPrepared({ api }, each)))
    for (const { swapId } of submitted) await stageOf({ api }, swapId, 'locking')
    await alpha.untilPending()
    return submitted
  }
  type Submitted = Awaited<ReturnType<typeof submitUnmined>>[number]

  async function expectRefund({ wallet, swapId, quote }: Submitted): Promise<void> {
    const outcome = await hurryToEnd({ ...world, api }, swapId)
    expect(outcome).toMatchObject({
      status: 'refunded',
      refund: { reason: 'PRICE_MOVED', amount: quote.input },
    })
    expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(INPUT)
    expect(await beta.balanceOf(wallet.address, 'LINK')).toBe(0n)
  }

  /** Delivered for less than the quoted output, and no less than the wallet signed. */
  async function expectLess({ wallet, swapId, quote }: Submitted): Promise<void> {
    const outcome = await outcomeOf({ api }, swapId)
    const got = await beta.balanceOf(wallet.address, 'LINK')
    expect(outcome.status).toBe('settled')
    expect(outcome.amounts.delivered).toBe(`${got}`)
    expect(got).toBeGreaterThanOrEqual(BigInt(quote.minOutput))
    expect(got).toBeLessThan(BigInt(quote.output))
    const { spent, given } = await spending(beta, outcome, 'USDC')
    expect(spent).toBeLessThan(given)
  }

  test('within the slippage limit, the whole budget buys at least the signed minimum', async () => {
    const [swap] = await submitUnmined([order])

    await linkPool.moveBy(100)
    await alpha.resume()

    await expectLess(swap as Submitted)
  })

  test('by a tenth, returns the input, also if the wallet allowed that much: the pool may be played', async () => {
    const [usualLimit, wideLimit, exact] = await submitUnmined([
      order,
      { ...order, slippageBps: 2_000 },
      { ...order, amount: 3n * ETHER, tradeType: 'exactOutput' },
    ])

    await linkPool.moveBy(1_000)
    await alpha.resume()

    await expectRefund(wideLimit as Submitted)
    await expectRefund(usualLimit as Submitted)
    await expectRefund(exact as Submitted)
  })

  test('in favour, delivers the quoted output and leaves the rest in the vault', async () => {
    const [swap] = await submitUnmined([order])

    await linkPool.moveBy(-1_000)
    await alpha.resume()
    const { wallet, swapId, quote } = swap as Submitted
    const outcome = await outcomeOf({ api }, swapId)

    expect(outcome.status).toBe('settled')
    expect(await beta.balanceOf(wallet.address, 'LINK')).toBe(BigInt(quote.output))
    const { spent, given } = await spending(beta, outcome, 'USDC')
    expect(spent * 100n).toBeLessThan(given * 91n)
  })

  test('before anything is locked, fails the swap, and the input is never taken', async () => {
    const wallet = await walletWith('USDC', INPUT)
    const { build, submission } = await prepare({ api }, wallet, order)

    await linkPool.moveBy(1_000)
    const { swapId } = (await api.submit(submission)).body
    const outcome = await outcomeOf({ api }, swapId)

    expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'PRICE_MOVED' } })
    expect(outcome.originTxHash).toBeUndefined()
    expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(INPUT)
    expect(await alpha.lockStateOf(build)).not.toBe('locked')
  })

  test('an input that loses three tenths of its value after the lock is returned', async () => {
    const wallet = await walletWith('WETH', ETHER)
    await alpha.halt()
    const sale = { ...order, sell: 'WETH', amount: ETHER / 10n }
    const { swapId } = await submitSwap({ api }, wallet, sale)
    await stageOf({ api }, swapId, 'locking')
    await alpha.untilPending()
    try {
      await world.movePrice(beta, 'ETH', 1_750)
      await alpha.resume()
      const outcome = await outcomeOf({ api }, swapId)

      expect(outcome).toMatchObject({
        status: 'refunded',
        refund: { reason: 'PRICE_MOVED', amount: `${ETHER / 10n}` },
      })
      expect(await alpha.balanceOf(wallet.address, 'WETH')).toBe(ETHER)
      expect(await beta.balanceOf(wallet.address, 'LINK')).toBe(0n)
    } finally {
      await world.setPrice('ETH', 2_500)
      await Promise.all([alpha.mine(), beta.mine()])
    }
  })
})

describe('if both the vault and a pool have the output', () => {
  test("a cheaper pool gives more, for no more of the vault's funds than the value of the input", async () => {
    const wallet = await walletWith('USDC', INPUT)

    await wethPool.moveBy(-500)
    await untilQuoted('WETH', (bps) => bps > 10_400)
    const { quote, swapId } = await submitSwap({ api }, wallet, { ...order, buy: 'WETH' })
    const outcome = await outcomeOf({ api }, swapId)

    expect(outcome.status).toBe('settled')
    expect(await beta.balanceOf(wallet.address, 'WETH')).toBe(BigInt(quote.output))
    const { vault: owner } = beta.contracts
    const paid = { owner, symbol: 'WETH', txHash: outcome.deliveryTxHash }
    expect(await spentIn(beta, paid)).toBe(0n)
    const { spent, given } = await spending(beta, outcome, 'USDC')
    expect(spent).toBeLessThan(given)
  })

  test('a price better than the reference is itemised, and the fees still add up', async () => {
    await wethPool.moveBy(-500)
    await untilQuoted('WETH', (bps) => bps > 10_400)
    const tokens = await readTokens(world)
    const at = (chainId: number, address: string) =>
      tokens.find(
        (token) => token.chainId === chainId && token.address === address,
      ) as (typeof tokens)[number]

    const quote = await ask({ ...order, buy: 'WETH' })

    const input = at(alpha.chainId, alpha.token('USDC'))
    const output = at(beta.chainId, beta.token('WETH'))
    const cents = quote.fees.reduce((sum, { usd }) => sum + toCents(usd), 0n)
    expect(cents).toBe(toCents(quote.inputUsd) - toCents(quote.outputUsd))
    expect(unexplained(quote, { input, output })).toBeGreaterThanOrEqual(0n)
    expect(unexplained(quote, { input, output })).toBeLessThan(worthOf(1n, input))
    const gains = quote.fees.filter(({ amount, usd }) => amount.startsWith('-') || usd?.startsWith('-'))
    expect(gains).toEqual([
      {
        kind: 'priceImpact',
        amount: expect.stringMatching(/^-[1-9]/),
        usd: expect.stringMatching(/^-[45]\./),
      },
    ])
    expect(quote.priceImpactBps).toBeGreaterThan(400)
  })

  test('a more expensive pool changes nothing: the vault pays at the reference price', async () => {
    const before = await outputOf('WETH')

    await wethPool.moveBy(1_000)
    // Pools are read again about every other block.
    const from = await beta.client.getBlockNumber()
    await until(async () => (await beta.client.getBlockNumber()) >= from + 3n)

    expect(isUsual(Number(((await outputOf('WETH')) * 10_000n) / before))).toBe(true)
  })
})
