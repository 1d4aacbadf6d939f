import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createCheckedClient } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import { createWorld, type Order, outcomeOf, submitSwap, toRequest, until } from '../world.ts'

const local = inject('local')
const operator = createOperator(inject('databaseUrl'))
const api = createCheckedClient({ ...local, apiKey: await operator.createKey() })
const world = { ...createWorld(local), api }
const { alpha, beta } = world
const wallet = { address: '0x00000000000000000000000000000000000c0ffe' }
const order: Order = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: 100_000_000n }

// Of the local network: the depth at which inputs are paid for, that of finality, and the usual cap.
const [ACCEPT, HARD] = [1, 4]
const CAP_CENTS = 2_500_000n
const [FAST_SECONDS, SLOW_SECONDS] = [2, 2_400]
const REFRESH_MS = 30_000

let booked = 0n

/** Leaves this much of the exposure cap of alpha. */
async function leaveRoom(cents: bigint): Promise<void> {
  await freeRoom()
  const [row] = await operator.query<{ cents: string }>('select cents from exposure where chain_id = $1', [
    alpha.chainId,
  ])
  booked = CAP_CENTS - BigInt(row?.cents ?? 0) - cents
  await operator.query(
    `insert into exposure (chain_id, cents) values ($1, $2)
         on conflict (chain_id) do update set cents = exposure.cents + $2`,
    [alpha.chainId, booked.toString()],
  )
}

async function freeRoom(): Promise<void> {
  await operator.query('update exposure set cents = cents - $2 where chain_id = $1', [
    alpha.chainId,
    booked.toString(),
  ])
  booked = 0n
}

/** As if twenty swaps had taken this long at this depth. */
async function setTimes(depth: number, seconds: number): Promise<void> {
  await operator.query(
    `insert into swap_times (origin_chain, destination_chain, depth, durations_ms)
     values ($1, $2, $3, array_fill($4::int, array[20]))
         on conflict (origin_chain, destination_chain, depth) do update set durations_ms = excluded.durations_ms`,
    [alpha.chainId, beta.chainId, depth, seconds * 1_000],
  )
}

const quote = (of: Partial<Order> & { maxEtaSeconds?: number } = {}) =>
  api.quote(toRequest(wallet, { ...order, ...of }))

const quoteOnce = (isIt: (body: Awaited<ReturnType<typeof quote>>['body']) => boolean) =>
  until(async () => {
    const { status, body } = await quote()
    return status === 200 && isIt(body) && body
  }, REFRESH_MS)

const isSlow = ({ warnings }: { warnings?: { code: string }[] }) =>
  warnings?.some(({ code }) => code === 'SLOW_SETTLEMENT') ?? false

beforeAll(async () => {
  // Other swaps that are on their way from alpha are final by then.
  await until(async () => {
    const [row] = await operator.query<{ cents: string }>('select cents from exposure where chain_id = $1', [
      alpha.chainId,
    ])
    return row === undefined || row.cents === '0'
  }, 60_000)
  await setTimes(ACCEPT, FAST_SECONDS)
  await setTimes(HARD, SLOW_SECONDS)
  await quoteOnce(({ etaSeconds }) => etaSeconds === FAST_SECONDS)
})
afterAll(async () => {
  await freeRoom()
  await operator.query('delete from swap_times')
})

test('a quote names the time that 8 of 10 of the last swaps kept, and warns of nothing', async () => {
  const { body } = await quote({ maxEtaSeconds: FAST_SECONDS })

  expect([body.etaSeconds, body.warnings]).toEqual([FAST_SECONDS, undefined])
})

test('while the exposure cap has no room the quote warns and counts the wait for finality', async () => {
  await leaveRoom(0n)

  const slow = await quoteOnce(isSlow)

  expect(slow.etaSeconds).toBe(SLOW_SECONDS)
  expect(slow.warnings).toEqual([
    {
      code: 'SLOW_SETTLEMENT',
      message: 'The input has to be final on alpha first: this takes about 40 minutes.',
    },
  ])
})

test('422 INSUFFICIENT_LIQUIDITY for a caller who names less time, and nothing that is fast', async () => {
  await leaveRoom(0n)
  await quoteOnce(isSlow)

  const { status, body } = await quote({ maxEtaSeconds: 60 })

  expect([status, body.code]).toEqual([422, 'INSUFFICIENT_LIQUIDITY'])
  expect(body.message).toBe(
    'A swap from alpha to beta takes about 40 minutes now. Allow more time, or try later.',
  )
  expect(body.recovery).toMatchObject({ action: 'RETRY_LATER', maxAmount: '0' })
})

test.each(['exactInput', 'exactOutput'] as const)(
  '422 INSUFFICIENT_LIQUIDITY names the largest amount that is fast now, of an %s',
  async (tradeType) => {
    await leaveRoom(5_000n)
    await quoteOnce(isSlow)

    const { status, body } = await quote({ tradeType, maxEtaSeconds: 60 })
    const amount = BigInt(String(body.recovery?.maxAmount))
    const fits = await quote({ tradeType, amount, maxEtaSeconds: 60 })
    const exceeds = await quote({ tradeType, amount: amount + 10_000n, maxEtaSeconds: 60 })

    expect([status, body.code]).toEqual([422, 'INSUFFICIENT_LIQUIDITY'])
    expect([fits.status, fits.body.etaSeconds, fits.body.inputUsd]).toEqual([200, FAST_SECONDS, '50.00'])
    expect(exceeds.body.code).toBe('INSUFFICIENT_LIQUIDITY')
  },
)

test('a caller who allows the time is quoted, and the swap settles when its input is final', async () => {
  await leaveRoom(0n)
  await quoteOnce(isSlow)
  const payer = await world.walletWith(alpha, 'USDC', order.amount)

  expect((await quote({ maxEtaSeconds: SLOW_SECONDS })).status).toBe(200)
  const { swapId } = await submitSwap(world, payer, order)

  expect(await outcomeOf(world, swapId)).toMatchObject({ status: 'settled' })
  const [took] = await until(async () => {
    const rows = await operator.query<{ ms: number }>(
      'select durations_ms[1] as ms from swap_times where origin_chain = $1 and destination_chain = $2 and depth = $3',
      [alpha.chainId, beta.chainId, HARD],
    )
    return rows[0]?.ms !== SLOW_SECONDS * 1_000 && rows
  })
  expect(took?.ms).toBeGreaterThan(0)
  expect(took?.ms).toBeLessThan(60_000)
})

test('400 INVALID_REQUEST for a time that is none', async () => {
  for (const maxEtaSeconds of [0, 86_401, 1.5]) expect((await quote({ maxEtaSeconds })).status).toBe(400)
})
