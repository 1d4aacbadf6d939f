import { beforeAll, describe, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient, refusalOf } from '../checked-client.ts'
import { delegatedWallet } from '../instant-wallet.ts'
import { createOperator } from '../operator.ts'
import { createWorld, outcomeOf, prepare, quoteOnceSettled, toRequest, until } from '../world.ts'

const local = inject('local')
const { alpha, beta } = createWorld(local)
const operator = createOperator(inject('databaseUrl'))
const order = { from: alpha, sell: 'ETH', to: alpha, buy: 'USDC', amount: 10n ** 17n }

let api: CheckedClient
beforeAll(async () => {
  api = createCheckedClient({ ...local, apiKey: await operator.createKey() })
})

/** Makes a built operation expire. */
async function expire(geoOpHash: string): Promise<void> {
  const sql = `update ops set expires_at = clock_timestamp() - interval '1 ms' where hash = $1`
  await operator.query(sql, [geoOpHash])
}

const chainOf = async (chainId: number) =>
  (await api.chains()).body.chains.find((chain) => chain.chainId === chainId)

/** `USDC in`, `USDC out` and so on. */
async function swappableOn(chainId: number): Promise<string[]> {
  const { tokens } = (await api.tokens(chainId)).body
  return tokens.flatMap(({ symbol, input, output }) => [
    ...(input ? [`${symbol} in`] : []),
    ...(output ? [`${symbol} out`] : []),
  ])
}

// Two of these wait for real time to pass: they do so together.
describe.concurrent('expiry', () => {
  test('410 QUOTE_EXPIRED once expiresAt has passed, also for a built quote, and not earlier', async ({
    expect,
  }) => {
    const wallet = await delegatedWallet(alpha)
    const request = toRequest(wallet, order)
    const quotes = await Promise.all([quoteOnceSettled(api, request), quoteOnceSettled(api, request)])
    const [built, never] = quotes.map(({ geoQuoteToken }) => ({ geoQuoteToken }))
    const expiresAt = Math.max(...quotes.map((quote) => new Date(quote.expiresAt).getTime()))
    const buildBoth = () => Promise.all([api.build(built ?? {}), api.build(never ?? {})])

    await until(async () => Date.now() > expiresAt - 2_000, 40_000)
    const first = await api.build(built ?? {})
    await until(async () => Date.now() >= expiresAt)
    const replies = await buildBoth()

    expect(refusalOf(first)).toBe('200 OK')
    expect(replies.map(refusalOf)).toEqual(['410 QUOTE_EXPIRED', '410 QUOTE_EXPIRED'])
    const signature = await wallet.signMessage({ message: { raw: first.body.geoOpHash as `0x${string}` } })
    const submitted = await api.submit({ geoOpToken: first.body.geoOpToken, signature })
    expect(refusalOf(submitted)).toBe('200 OK')
  })

  test('503 CHAIN_UNAVAILABLE while a chain is halted, at quote and build, and in the catalog', async ({
    expect,
  }) => {
    const wallet = await delegatedWallet(alpha)
    const across = toRequest(wallet, { ...order, to: beta })
    const { geoQuoteToken } = await quoteOnceSettled(api, across)
    // An earlier test may have emptied and refilled a vault: its balance is read again within seconds.
    const before = await until(async () => {
      const swappable = await swappableOn(beta.chainId)
      return ['USDC in', 'USDC out', 'ETH in', 'ETH out'].every((way) => swappable.includes(way)) && swappable
    })

    try {
      await beta.halt()
      const refused = await until(async () => {
        const reply = await api.quote(across)
        return reply.status === 503 && reply
      })
      const build = await api.build({ geoQuoteToken })

      expect(refusalOf(refused)).toBe('503 CHAIN_UNAVAILABLE')
      expect(refused.body.details).toEqual({ chainId: beta.chainId })
      expect(refusalOf(build)).toBe('503 CHAIN_UNAVAILABLE')
      expect(refusalOf(await api.quote(toRequest(wallet, order)))).toBe('200 OK')
      const halted = await until(async () => {
        const entry = await chainOf(beta.chainId)
        return entry?.available === false && entry
      })
      expect(halted.reason).toBe('CHAIN_UNAVAILABLE')
      expect(await swappableOn(beta.chainId)).toEqual([])
      expect(await chainOf(alpha.chainId)).toMatchObject({ available: true })
    } finally {
      await beta.resume()
      await until(async () => (await api.quote(across)).status === 200)
    }

    const resumed = await until(async () => {
      const entry = await chainOf(beta.chainId)
      return entry?.available && entry
    })
    expect(resumed).not.toHaveProperty('reason')
    expect(await swappableOn(beta.chainId)).toEqual(before)
  })

  test('410 OPERATION_EXPIRED for a first submission after the operation expired', async ({ expect }) => {
    const wallet = await delegatedWallet(alpha)
    const { build, submission } = await prepare({ api }, wallet, order)
    await expire(build.geoOpHash)

    const replies = [
      await api.submit(submission),
      await api.submit(submission),
      await api.submit({ ...submission, signature: '0x' }),
    ]

    expect(replies.map(refusalOf)).toEqual(replies.map(() => '410 OPERATION_EXPIRED'))
    expect(await operator.query('select 1 from swaps where wallet = $1', [wallet.address])).toEqual([])
  })

  test('an existing swap is returned after its operation expired, and 422 INVALID_SIGNATURE stays', async ({
    expect,
  }) => {
    const wallet = await delegatedWallet(alpha)
    const { build, submission } = await prepare({ api }, wallet, order)
    const first = await api.submit(submission)
    await outcomeOf({ api }, first.body.swapId)
    await expire(build.geoOpHash)

    const again = await api.submit(submission)
    const unsigned = await api.submit({ ...submission, signature: `0x${'11'.repeat(65)}` })

    expect(again.body).toEqual({ swapId: first.body.swapId, status: 'settled' })
    expect(refusalOf(unsigned)).toBe('422 INVALID_SIGNATURE')
  })
})
