import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import {
  createWorld,
  type Order,
  outcomeOf,
  prepare,
  stageOf,
  submitSwap,
  toRequest,
  until,
} from '../world.ts'
import { createControls } from './controls.ts'

const local = inject('local')
const world = createWorld(local)
const { api } = world
const controls = createControls(local)
const database = new pg.Pool({ connectionString: inject('databaseUrl'), max: 2 })
const AMOUNT = 20_000_000n
// From the presets.
const HARD_SECONDS = { ethereum: 1_140, base: 2_400 }
const FINAL = 45 * 60
// After these seconds the service no longer uses earlier measurements.
const FORGOTTEN = 700
const WAIT_MS = 90_000

beforeAll(async () => {
  // The contracts are then older than the final blocks.
  await controls.advanceAll(FINAL)
})
afterEach(async () => {
  await freeExposure()
  for (const chain of ['ethereum', 'base']) {
    await controls.resumeFinality(chain)
    await controls.setFinalityLag(chain, 1)
    await advance(chain, FORGOTTEN)
  }
})
afterAll(() => database.end())

const orderFrom = (from: string, to: string): Order => ({
  from: world.chainNamed(from),
  sell: 'USDC',
  to: world.chainNamed(to),
  buy: 'USDC',
  amount: AMOUNT,
})

async function lagOf(name: string): Promise<number> {
  const { client } = world.chainNamed(name)
  const timeOf = async (blockTag: 'latest' | 'finalized') =>
    Number((await client.getBlock({ blockTag })).timestamp)
  return (await timeOf('latest')) - (await timeOf('finalized'))
}

/** Waits until the service knows the new time: deadlines from the time before would be near or past. */
async function advance(name: string, seconds: number): Promise<void> {
  const { timestamp } = await controls.advance(name, seconds)
  const known = `select 1 from chain_views where chain_id = $1 and (view->'heads'->'head'->>'seconds')::int >= $2`
  const { chainId } = world.chainNamed(name)
  await until(async () => (await database.query(known, [chainId, timestamp])).rows.length > 0, WAIT_MS)
}

/** Moves the clock of a chain with halted finality until the final block is this old. */
async function lagUntil(name: string, seconds: number): Promise<void> {
  for (;;) {
    const left = seconds - (await lagOf(name))
    if (left <= 0) return
    await advance(name, Math.min(left, 3_000))
  }
}

/** From then on, nothing is delivered for this chain before its inputs are final. */
async function fillExposure(name: string): Promise<void> {
  await database.query(
    `insert into exposure (chain_id, cents) values ($1, 10000000000)
         on conflict (chain_id) do update set cents = exposure.cents + 10000000000`,
    [world.chainNamed(name).chainId],
  )
}

const freeExposure = () =>
  database.query('update exposure set cents = cents - 10000000000 where cents >= 10000000000')

async function newWallet(from: string) {
  return world.walletWith(world.chainNamed(from), 'USDC', AMOUNT)
}

const balanceOf = (name: string, { address }: { address: `0x${string}` }) =>
  world.chainNamed(name).balanceOf(address, 'USDC')

async function quoteFrom(from: string, to: string) {
  const wallet = { address: '0x00000000000000000000000000000000000c0ffe' }
  return api.quote(toRequest(wallet, orderFrom(from, to)))
}

/** A locked swap that waits, since nothing may be delivered before its input is final. */
async function lockedSwap(from: string, to: string) {
  await fillExposure(from)
  const wallet = await newWallet(from)
  const slow = await until(async () => {
    const { body } = await quoteFrom(from, to)
    return body.warnings?.some(({ code }: { code: string }) => code === 'SLOW_SETTLEMENT') && body
  }, WAIT_MS)
  const { swapId } = await submitSwap(world, wallet, orderFrom(from, to))
  await stageOf(world, swapId, 'locked')
  return { wallet, swapId, etaSeconds: slow.etaSeconds }
}

const untilRefused = (from: string, to: string) =>
  until(async () => {
    const { status, body } = await quoteFrom(from, to)
    return status === 503 && body.message?.startsWith('Finality of') && body
  }, WAIT_MS)

/** Some blocks in which a delivery would have been sent. */
async function passBlocks(name: string): Promise<void> {
  const { client } = world.chainNamed(name)
  const from = await client.getBlockNumber()
  await until(async () => (await client.getBlockNumber()) >= from + 3n, WAIT_MS)
}

async function countDeliveries(swapId: string): Promise<number> {
  const { rows } = await database.query(
    `select 1 from attempt_swaps where swap_id = $1 and role = 'deliver'`,
    [swapId],
  )
  return rows.length
}

const stateOf = async (swapId: string) =>
  (await database.query<{ state: string }>('select state from swaps where id = $1', [swapId])).rows[0]?.state

/** Advances all chains until the input of a settled swap is finally claimed. */
async function untilClosed(swapId: string): Promise<void> {
  await until(async () => {
    await controls.advanceAll(10 * 60)
    return (await stateOf(swapId)) === 'closed'
  }, 180_000)
}

test('a delivery waits while finality of its chain is halted, and is made when it resumes', async () => {
  await controls.haltFinality('base')
  await lagUntil('base', 2.8 * HARD_SECONDS.base)
  const { wallet, swapId, etaSeconds } = await lockedSwap('arbitrum', 'base')
  expect(etaSeconds).toBeGreaterThan(FINAL / 3)

  await lagUntil('base', 3 * HARD_SECONDS.base + 60)
  const refusal = await untilRefused('arbitrum', 'base')
  await freeExposure()
  await passBlocks('base')

  expect(refusal).toMatchObject({ code: 'CHAIN_UNAVAILABLE', recovery: { retryAfterMs: 60_000 } })
  expect(refusal.message).toMatch(/^Finality of base takes \d+ minutes longer than usual/)
  expect([await countDeliveries(swapId), await balanceOf('base', wallet)]).toEqual([0, 0n])

  await controls.resumeFinality('base')
  await advance('base', FORGOTTEN)
  expect(await outcomeOf(world, swapId)).toMatchObject({ status: 'settled' })
  await untilClosed(swapId)
})

test('a swap without time after a stall of an hour is refunded, and later ones settle', async () => {
  const { wallet, swapId } = await lockedSwap('base', 'ethereum')
  await controls.haltFinality('ethereum')

  await advance('ethereum', 3_600)
  const refusal = await untilRefused('base', 'ethereum')
  await until(async () => {
    await advance('base', 10 * 60)
    return (await stateOf(swapId)) === 'refunded'
  }, 180_000)

  expect(refusal.message).toMatch(/^Finality of ethereum takes \d+ minutes longer than usual/)
  expect((await api.status(swapId, 0)).body).toMatchObject({
    status: 'refunded',
    refund: { reason: 'DELIVERY_EXPIRED' },
  })
  expect([await balanceOf('base', wallet), await countDeliveries(swapId)]).toEqual([AMOUNT, 0])

  await freeExposure()
  await controls.resumeFinality('ethereum')
  await advance('ethereum', FORGOTTEN)
  const next = await submitSwap(world, await newWallet('base'), orderFrom('base', 'ethereum'))
  expect(await outcomeOf(world, next.swapId)).toMatchObject({ status: 'settled' })
})

test('nothing is quoted or locked for a chain whose finality is three times slower', async () => {
  const wallet = await newWallet('arbitrum')
  const { submission, build, quote } = await prepare(world, wallet, orderFrom('arbitrum', 'base'))
  await controls.setFinalityLag('base', 9)
  await lagUntil('base', 3 * HARD_SECONDS.base + 60)
  await untilRefused('arbitrum', 'base')

  const { body } = await api.submit(submission)
  await passBlocks('base')

  expect(quote.etaSeconds).toBeLessThan(60)
  expect(await world.chainNamed('arbitrum').lockStateOf(build)).toBe('none')
  await advance('arbitrum', 300)
  expect(await outcomeOf(world, body.swapId)).toMatchObject({
    status: 'failed',
    failure: { code: 'OPERATION_EXPIRED' },
  })
  expect(await balanceOf('arbitrum', wallet)).toBe(AMOUNT)
})
