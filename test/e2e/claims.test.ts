import { geoEscrowAbi } from '@geoswap/protocol'
import { generateKeyPairSigner } from '@solana/kit'
import { type Address, encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createCheckedClient } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import { createSolanaWorld } from '../solana-world.ts'
import { createWorld, type Order, outcomeOf, prepare, submitSwap, toRequest, until } from '../world.ts'

const local = inject('local')
const operator = createOperator(inject('databaseUrl'))
const api = createCheckedClient({ ...local, apiKey: await operator.createKey() })
const world = { ...createWorld(local), api }
const { alpha, beta } = world
const solana = await createSolanaWorld(local)

const HOUR = 3_600
const INPUT = 4n * 10n ** 15n
// Four inputs fill the cap of the hour.
const FITTING = 4n
const SUBMITTED = 8

const weth = beta.token('WETH') as Address
const escrow = { address: beta.contracts.escrow, abi: geoEscrowAbi } as const
const sell = { from: beta, sell: 'WETH', amount: INPUT }

const readCap = async () =>
  (await beta.client.readContract({ ...escrow, functionName: 'claimCaps', args: [weth] }))[0]

async function setCap(limit: bigint): Promise<void> {
  const treasury = await beta.client.readContract({ ...escrow, functionName: 'TREASURY' })
  const call = { abi: geoEscrowAbi, functionName: 'setClaimCap', args: [weth, limit] } as const
  await beta.as(treasury, { to: beta.contracts.escrow, data: encodeFunctionData(call) })
  await until(async () => (await readCap()) === limit)
}

/** Moves the chain's clock to this many seconds after the next full hour. */
async function turnHour(seconds = 1): Promise<void> {
  const { timestamp } = await beta.client.getBlock()
  await beta.advance(HOUR - (Number(timestamp) % HOUR) + seconds)
  await beta.mine()
}

let usualCap: bigint

beforeAll(async () => {
  usualCap = await readCap()
  // Inputs of other tests are claimed by then, and no longer count.
  await until(async () => (await bookOf()).open === '0', 60_000)
  await turnHour()
  await setCap(FITTING * INPUT)
})
afterAll(() => setCap(usualCap))

async function bookOf(): Promise<{ open: string }> {
  const [book] = await operator.query<{ open: string }>(
    'select open from claim_books where chain_id = $1 and token = $2',
    [beta.chainId, weth],
  )
  return book ?? { open: '0' }
}

/** To both destinations in turn, each from its own wallet. */
async function orderOf(index: number) {
  const wallet = await world.walletWith(beta, 'WETH', INPUT)
  const { address: recipient } = await generateKeyPairSigner()
  const toSolana = { to: solana, buy: 'USDC', recipient }
  const order: Order = { ...sell, ...(index % 2 === 0 ? { to: alpha, buy: 'USDC' } : toSolana) }
  return { wallet, order }
}

const quoteOf = (amount: bigint) => {
  const wallet = { address: '0x00000000000000000000000000000000000000aa' }
  return api.quote(toRequest(wallet, { ...sell, to: alpha, buy: 'USDC', amount }))
}

test('422 INSUFFICIENT_LIQUIDITY for more than a quarter of an hour’s claims, with the quarter', async () => {
  const refused = await until(async () => {
    const quote = await quoteOf(2n * INPUT)
    // While the claims of the last hour still count, nothing is left.
    return quote.status === 422 && quote.body.recovery?.maxAmount !== '0' ? quote : undefined
  })

  expect(refused.body).toMatchObject({
    code: 'INSUFFICIENT_LIQUIDITY',
    recovery: { maxAmount: String(INPUT) },
  })
  expect((await quoteOf(INPUT)).status).toBe(200)
})

test('if several destinations exceed the cap of one origin, nothing is both delivered and refunded', async () => {
  const orders = await Promise.all(Array.from({ length: SUBMITTED }, (_, index) => orderOf(index)))
  const prepared = await Promise.all(orders.map(({ wallet, order }) => prepare(world, wallet, order)))
  const submitted = await Promise.all(prepared.map(({ submission }) => api.submit(submission)))
  const ids = submitted.map(({ body }) => body.swapId)

  const statesOf = async () => Promise.all(prepared.map(({ build }) => beta.lockStateOf(build)))
  await until(
    async () => (await statesOf()).filter((state) => state === 'claimed').length === Number(FITTING),
    60_000,
  )
  const full = await until(async () => {
    const quote = await quoteOf(INPUT)
    return quote.status === 422 ? quote : undefined
  })
  expect(full.body).toMatchObject({
    code: 'INSUFFICIENT_LIQUIDITY',
    recovery: { action: 'RETRY_LATER', maxAmount: '0' },
  })

  // A claim counts for the hour in which it is found to be final.
  await until(async () => (await bookOf()).open === '0')
  // The other swaps still wait; their time ends before the hour does.
  await turnHour()
  const outcomes = await Promise.all(ids.map((id) => outcomeOf({ api }, id)))
  const ended = outcomes.map(({ status }, index) => `${status} ${index}`)
  const states = await statesOf()
  const balances = await Promise.all(orders.map(({ wallet }) => beta.balanceOf(wallet.address, 'WETH')))

  expect(ended.filter((line) => line.startsWith('settled'))).toHaveLength(Number(FITTING))
  for (const [index, { status, failure }] of outcomes.entries()) {
    const isSettled = status === 'settled'
    expect([status, states[index], balances[index]]).toEqual(
      isSettled ? ['settled', 'claimed', 0n] : ['failed', 'none', INPUT],
    )
    if (!isSettled) expect(failure?.code).toBe('OPERATION_EXPIRED')
  }
})

test('a new hour has room again', async () => {
  const { wallet, order } = await orderOf(0)
  const { swapId, build } = await submitSwap(world, wallet, order)

  expect((await outcomeOf({ api }, swapId)).status).toBe('settled')
  await until(async () => (await beta.lockStateOf(build)) === 'claimed')
})

test('a claim deferred by a lowered cap is made in the next hour', async () => {
  const { wallet, order } = await orderOf(0)
  const { swapId, build } = await submitSwap(world, wallet, order)
  await until(async () => (await beta.lockStateOf(build)) === 'locked')

  // As much as the previous test has claimed in this hour; before the delivery is final, so that no claim is
  // sent.
  await alpha.halt()
  await setCap(INPUT)
  await alpha.resume()
  // A relayer with an outdated cap sends it in vain, and then waits as well.
  await until(async () => {
    const waiting = `select 1 from swaps s join attestations a on a.swap_ids @> array[s.id]
                      where s.id = $1 and a.attempt_id is null`
    const isWaiting = (await operator.query(waiting, [swapId])).length === 1
    return isWaiting && (await beta.lockStateOf(build)) === 'locked'
  }, 90_000)
  await outcomeOf({ api }, swapId)
  expect(await beta.lockStateOf(build)).toBe('locked')
  await turnHour()

  await until(async () => (await beta.lockStateOf(build)) === 'claimed')
})
