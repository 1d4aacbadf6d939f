import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient, refusalOf } from '../checked-client.ts'
import { delegatedWallet } from '../instant-wallet.ts'
import { createOperator } from '../operator.ts'
import { createWorld, outcomeOf, prepare, quoteOnceSettled, toRequest, until } from '../world.ts'

const local = inject('local')
const { alpha, beta } = createWorld(local)
const operator = createOperator(inject('databaseUrl'))
const ETHER = 10n ** 18n
const order = { from: alpha, sell: 'ETH', to: beta, buy: 'ETH', amount: ETHER / 10n }
const anyone = { address: '0x00000000000000000000000000000000000a11ce' } as const

let api: CheckedClient
beforeAll(async () => {
  api = createCheckedClient({ ...local, apiKey: await operator.createKey() })
  await quoteOnceSettled(api, toRequest(anyone, order))
})

const pairs = [
  { from: alpha, sell: 'USDC', to: beta, buy: 'USDC' },
  { from: beta, sell: 'USDC', to: alpha, buy: 'USDC' },
  { from: alpha, sell: 'USDC', to: beta, buy: 'WETH', slippageBps: 5_000 },
  { from: alpha, sell: 'ETH', to: alpha, buy: 'USDC', slippageBps: 1 },
  { from: beta, sell: 'GEO', to: alpha, buy: 'ETH' },
  { from: alpha, sell: 'USDC', to: beta, buy: 'LINK' },
  { from: beta, sell: 'WETH', to: beta, buy: 'LINK', slippageBps: 5_000 },
  { from: beta, sell: 'LINK', to: alpha, buy: 'USDC' },
]
const nameOf = ({ from, sell, to, buy }: (typeof pairs)[number]) =>
  `${sell} on ${from.name} to ${buy} on ${to.name}`
const named = pairs.map((pair) => [nameOf(pair), pair] as const)

describe('amounts', () => {
  const quoteOf = (request: object, amount: bigint) => api.quote({ ...request, amount: amount.toString() })

  /** Prices move between calls: repeats until three answers belong to one price. */
  async function expectExact(
    request: object,
    probe: bigint,
    limit: 'minAmount' | 'maxAmount',
  ): Promise<void> {
    const step = limit === 'minAmount' ? -1n : 1n
    await until(async () => {
      const named = await quoteOf(request, probe)
      const amount = BigInt(String(named.body.recovery?.[limit]))
      const [inside, outside] = await Promise.all([quoteOf(request, amount), quoteOf(request, amount + step)])
      return inside.status === 200 && outside.body.code === named.body.code
    }, 5_000)
  }

  test.each(named)(
    '422 NEEDS_LARGER_SIZE names the smallest amount, to the unit: %s',
    async (_name, pair) => {
      const request = toRequest(anyone, { ...pair, amount: 1n })

      const reply = await api.quote(request)

      expect(refusalOf(reply)).toBe('422 NEEDS_LARGER_SIZE')
      expect(reply.body.recovery).toEqual({
        action: 'INCREASE_AMOUNT',
        minAmount: expect.stringMatching(/^[1-9]\d*$/),
      })
      await expectExact(request, 1n, 'minAmount')
    },
  )

  test.each(named)(
    '422 INSUFFICIENT_LIQUIDITY names the largest amount, to the unit: %s',
    async (_name, pair) => {
      for (const tradeType of ['exactInput', 'exactOutput'] as const) {
        const request = toRequest(anyone, { ...pair, tradeType, amount: 2n ** 256n - 1n })

        const reply = await api.quote(request)

        expect(refusalOf(reply)).toBe('422 INSUFFICIENT_LIQUIDITY')
        expect(reply.body.recovery).toMatchObject({ action: 'REDUCE_AMOUNT', maxAmount: expect.any(String) })
        await expectExact(request, 2n ** 256n - 1n, 'maxAmount')
      }
    },
  )
})

describe('422 INSUFFICIENT_BALANCE', () => {
  test('at build, when the wallet holds one unit less than the input', async () => {
    const wallet = await delegatedWallet(alpha, order.amount - 1n)
    const { geoQuoteToken } = await quoteOnceSettled(api, toRequest(wallet, order))
    const request = { geoQuoteToken }

    const reply = await api.build(request)
    await alpha.client.setBalance({ address: wallet.address, value: order.amount })
    const funded = await api.build(request)

    expect(refusalOf(reply)).toBe('422 INSUFFICIENT_BALANCE')
    expect(reply.body.recovery).toEqual({
      ...{ action: 'FUND_WALLET', token: alpha.token('ETH'), chainId: alpha.chainId },
      ...{ required: order.amount.toString(), balance: (order.amount - 1n).toString() },
    })
    expect(refusalOf(funded)).toBe('200 OK')
  })

  test("at submit, if the wallet's open inputs would exceed its balance", async () => {
    const wallet = await delegatedWallet(alpha, ETHER)
    const orders = [60n, 60n, 40n].map((percent) => ({ ...order, amount: (ETHER * percent) / 100n }))
    const [first, second, third] = await Promise.all(orders.map((each) => prepare({ api }, wallet, each)))
    await alpha.halt()
    try {
      const replies = [
        await api.submit(first?.submission ?? {}),
        await api.submit(second?.submission ?? {}),
        await api.submit(third?.submission ?? {}),
        await api.submit(first?.submission ?? {}),
      ]

      expect(replies.map(refusalOf)).toEqual(['200 OK', '422 INSUFFICIENT_BALANCE', '200 OK', '200 OK'])
      expect(replies[1]?.body.recovery).toEqual({
        ...{ action: 'FUND_WALLET', chainId: alpha.chainId, balance: ETHER.toString() },
        ...{ open: ((ETHER * 60n) / 100n).toString(), required: ((ETHER * 60n) / 100n).toString() },
      })
    } finally {
      await alpha.resume()
    }
  })
})

describe('422 INSUFFICIENT_LIQUIDITY when everything is reserved', () => {
  // A token that no pool sells: only the vault delivers it.
  const place = [beta.chainId, beta.token('GEO')]

  /** Reserves everything of the output token while this runs. */
  async function withNothingLeft<T>(work: () => Promise<T>): Promise<T> {
    const [taken] = await operator.query<{ amount: string }>(
      `with now as (select held - reserved as amount from inventory where chain_id = $1 and token = $2 for update)
       update inventory set reserved = held from now where chain_id = $1 and token = $2 returning now.amount`,
      place,
    )
    try {
      return await work()
    } finally {
      const give = 'update inventory set reserved = reserved - $3 where chain_id = $1 and token = $2'
      await operator.query(give, [...place, taken?.amount])
    }
  }

  test('at submit: nothing is stored, and the same submission succeeds once there is liquidity again', async () => {
    const wallet = await delegatedWallet(alpha)
    const { submission } = await prepare({ api }, wallet, { ...order, buy: 'GEO' })

    const reply = await withNothingLeft(() => api.submit(submission))

    expect(refusalOf(reply)).toBe('422 INSUFFICIENT_LIQUIDITY')
    expect(await operator.query('select 1 from swaps where wallet = $1', [wallet.address])).toEqual([])
    expect(refusalOf(await api.submit(submission))).toBe('200 OK')
  })

  test.each(['exactInput', 'exactOutput'])(
    'at quote: retry later, since no smaller %s would succeed',
    async (tradeType) => {
      const request = { ...toRequest(anyone, { ...order, buy: 'GEO' }), tradeType }

      const reply = await withNothingLeft(() =>
        until(async () => {
          const answer = await api.quote(request)
          return answer.status !== 200 && answer
        }),
      )

      expect(refusalOf(reply)).toBe('422 INSUFFICIENT_LIQUIDITY')
      expect(reply.body.recovery).toEqual({ action: 'RETRY_LATER', maxAmount: '0', retryAfterMs: 5_000 })
      await until(async () => (await api.quote(request)).status === 200)
    },
  )
})

describe('429 RATE_LIMITED', () => {
  test('10 quotes a second and 20 at once, for each class separately', async () => {
    const client = createCheckedClient({ ...local, apiKey: await operator.createKey({}) })
    const request = toRequest(anyone, order)
    await quoteOnceSettled(api, request)

    const startedAt = performance.now()
    const replies = await Promise.all(Array.from({ length: 60 }, () => client.quote(request)))
    const seconds = (performance.now() - startedAt) / 1_000

    const allowed = replies.filter(({ status }) => status === 200).length
    expect(allowed).toBeGreaterThanOrEqual(20)
    expect(allowed).toBeLessThanOrEqual(20 + Math.ceil(10 * seconds))
    expect(allowed).toBeLessThan(40)
    const refused = replies.filter(({ status }) => status !== 200)
    expect(new Set(refused.map(refusalOf))).toEqual(new Set(['429 RATE_LIMITED']))
    for (const { headers, body } of refused) {
      expect(headers.get('ratelimit-policy')).toBe('"quote";q=20;w=2')
      expect(headers.get('ratelimit')).toMatch(/^"quote";r=[01];t=2$/)
      expect(headers.get('retry-after')).toBe('1')
      expect(body.recovery).toEqual({ action: 'RETRY_LATER', retryAfterMs: expect.any(Number) })
    }
    const others = await client.delegation(alpha.chainId, anyone.address)
    expect(refusalOf(others)).toBe('200 OK')
    const status = await client.status('swp_none', 0)
    expect(status.headers.get('ratelimit-policy')).toBe('"status";q=40;w=2')
    await until(async () => (await client.quote(request)).status === 200, 2_000)
  })

  test('for the 257th operation that is built but not submitted; submitting one makes room', async () => {
    const client = createCheckedClient({ ...local, apiKey: await operator.createKey() })
    const wallet = await delegatedWallet(alpha)
    const first = await prepare({ api: client }, wallet, order)
    const { geoQuoteToken } = await quoteOnceSettled(client, toRequest(wallet, order))
    const request = { geoQuoteToken }
    await operator.query(
      `insert into ops select (jsonb_populate_record(o, jsonb_build_object(
         'id', gen_random_uuid(), 'quote_id', gen_random_uuid(), 'hash', o.hash || n))).*
         from ops o, generate_series(1, 255) n where o.hash = $1`,
      [first.build.geoOpHash],
    )

    const refused = await client.build(request)
    const rebuilt = await client.build({ geoQuoteToken: first.quote.geoQuoteToken })
    const submitted = await client.submit(first.submission)
    const built = await client.build(request)
    await operator.query('delete from ops where hash like $1', [`${first.build.geoOpHash}_%`])

    expect(refusalOf(refused)).toBe('429 RATE_LIMITED')
    expect(rebuilt.body.geoOpHash).toBe(first.build.geoOpHash)
    expect([submitted, built].map(refusalOf)).toEqual(['200 OK', '200 OK'])
  })
})

test("a quote builds to the same hash even after its swap has taken the wallet's balance", async () => {
  const wallet = await delegatedWallet(alpha, order.amount)
  const { quote, build, submission } = await prepare({ api }, wallet, order)
  const swap = await api.submit(submission)
  expect((await outcomeOf({ api }, swap.body.swapId)).status).toBe('settled')

  const again = await api.build({ geoQuoteToken: quote.geoQuoteToken })

  expect(refusalOf(again)).toBe('200 OK')
  expect(again.body.geoOpHash).toBe(build.geoOpHash)
})
