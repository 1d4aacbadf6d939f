import type { StatusReply } from '@geoswap/wire'
import { type Address, type Hex, pad, parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient, refusalOf } from '../checked-client.ts'
import { setCode } from '../instant-wallet.ts'
import { createOperator } from '../operator.ts'
import { buildBy, passDeadline, pay, signBuild, submitBy } from '../ways.ts'
import { createWorld, type Order, outcomeOf, quoteOnceSettled, stageOf, toRequest, until } from '../world.ts'

const local = inject('local')
const world = createWorld(local)
const { alpha, beta } = world
const AMOUNT = 10_000_000n
/** The two sides do not follow each other. */
const order: Order = { from: alpha, sell: 'USDC', to: beta, buy: 'GEO', amount: AMOUNT }
const method = 'transfer'

let api: CheckedClient
let usual: bigint
beforeAll(async () => {
  api = createCheckedClient({ ...local, apiKey: await createOperator(inject('databaseUrl')).createKey() })
  usual = await outputNow()
})

const newWallet = () => privateKeyToAccount(generatePrivateKey())
const outputNow = async () => BigInt((await quoteOnceSettled(api, toRequest(newWallet(), order))).output)

/** The market moves, and quotes have this share of the usual output. */
async function movePrice(price: number, expectedBps: number): Promise<void> {
  await world.setPrice('GEO', price)
  await until(async () => Math.abs(Number(((await outputNow()) * 10_000n) / usual) - expectedBps) <= 5)
}

/** A swap of a wallet that waits for its transfer, and the transaction that its build prepared. */
async function opened(asked: Order = order) {
  const wallet = await world.walletWith(asked.from, asked.sell, 3n * asked.amount)
  const { swapId, build, quote } = await submitBy({ api }, wallet, { order: asked, method })
  const { transaction } = build
  if (!transaction) throw new Error('No transaction was prepared')
  const { to, data, value } = transaction
  const send = () =>
    asked.from.as(wallet.address, { to: to as Address, data: data as Hex, value: BigInt(value) })
  return { wallet, swapId, build, quote, send, address: build.depositAddress as Address }
}

const returnedOf = (swapId: string): Promise<StatusReply> =>
  until(async () => {
    const { body } = await api.status(swapId, 0)
    return body.deposit?.returned ? body : undefined
  })

test('a wallet swaps a token that takes no signature by the one transaction that its build prepared', async () => {
  const asked = { ...order, sell: 'WETH', amount: parseEther('0.01') }
  const { swapId, wallet, build, quote, send, address } = await opened(asked)
  const waiting = (await api.status(swapId, 0)).body

  const txHash = await send()
  const ended = await outcomeOf({ api }, swapId)

  const until = build.depositUntil
  expect(waiting).toMatchObject({ substatus: 'awaitingDeposit', method, deposit: { address, until } })
  expect(ended).toMatchObject({ status: 'settled', method })
  expect(ended.deposit).toEqual({ address, until, received: asked.amount.toString(), txHash })
  expect(quote.originMethods?.map((each) => each.method)).toEqual(['delegation', 'transfer'])
  expect(await beta.balanceOf(wallet.address, 'GEO')).toBe(BigInt(ended.amounts.delivered ?? 0))
})

test('native coin is swapped too, also from a smart wallet that sends it in a batch', async () => {
  const coins = { ...order, sell: 'ETH', amount: parseEther('0.01') }
  const [own, batched] = [await opened(coins), await opened(coins)]
  const smart = newWallet().address
  // Sends the value of a call on to the address in its data.
  await setCode(alpha, smart, '0x5f5f5f5f345f355af100')

  await own.send()
  const call = { to: smart, data: pad(batched.address), value: coins.amount }
  await alpha.as(batched.wallet.address, call)
  const [first, second] = await Promise.all([own, batched].map(({ swapId }) => outcomeOf({ api }, swapId)))

  expect([first?.status, second?.status]).toEqual(['settled', 'settled'])
  expect(second?.deposit).not.toHaveProperty('txHash')
})

describe('the price is judged when the transfer arrives', () => {
  afterEach(async () => {
    await Promise.all([alpha.resume(), beta.resume()])
    await movePrice(0.5, 10_000)
  })

  test('the output follows the market down to its minimum, and is no option on the price of the quote', async () => {
    const [near, far] = [await opened(), await opened()]

    await movePrice(0.505, 9_900)
    await near.send()
    const less = await outcomeOf({ api }, near.swapId)
    await movePrice(0.52, 9_615)
    await far.send()
    const none = await outcomeOf({ api }, far.swapId)
    await passDeadline(alpha, far.build)
    await returnedOf(far.swapId)

    const { delivered = '', quotedOutput, minOutput, repriced } = less.amounts
    expect([less.status, repriced]).toEqual(['settled', { output: delivered, reason: 'PRICE_MOVED' }])
    expect(BigInt(delivered)).toBeLessThan(BigInt(quotedOutput))
    expect(BigInt(delivered)).toBeGreaterThanOrEqual(BigInt(minOutput))
    expect(none).toMatchObject({ status: 'failed', failure: { code: 'PRICE_MOVED' } })
    expect(await alpha.balanceOf(far.wallet.address, 'USDC')).toBe(3n * AMOUNT)
  })

  test('a move in the block of the transfer counts, though the service did not know it yet', async () => {
    const { swapId, send } = await opened()
    await alpha.halt()
    await world.setPrice('GEO', 0.505)
    await send()
    await Promise.all([alpha.mine(), beta.mine()])
    await alpha.resume()

    const { amounts } = await outcomeOf({ api }, swapId)

    // Beyond the tolerance of 0.1 %.
    expect(BigInt(amounts.delivered ?? 0) * 1_000n).toBeLessThan(BigInt(amounts.quotedOutput) * 999n)
  })

  test('a transfer that a reorg undid is judged again when it comes back', async () => {
    const { swapId, send } = await opened()
    // Nothing is locked while the destination stands still.
    await beta.halt()
    await until(async () => (await api.quote(toRequest(newWallet(), order))).status === 503)
    await alpha.halt()
    const snapshot = await alpha.client.snapshot()
    await send()
    await alpha.mine()
    await stageOf({ api }, swapId, 'accepted')
    await alpha.client.revert({ id: snapshot })
    await alpha.mine()
    await Promise.all([alpha.resume(), beta.resume()])
    await until(async () => (await api.status(swapId, 0)).body.timeline.length === 3)

    await movePrice(0.505, 9_900)
    await send()
    const { status, amounts } = await outcomeOf({ api }, swapId)

    expect([status, amounts.repriced?.reason]).toEqual(['settled', 'PRICE_MOVED'])
  })
})

describe('back to the wallet goes', () => {
  test('a transfer that is mined after the deadline of the op', async () => {
    const { swapId, wallet, build, send } = await opened()
    await passDeadline(alpha, build)
    const ended = await outcomeOf({ api }, swapId)

    await send()
    await returnedOf(swapId)

    expect(ended).toMatchObject({ status: 'failed', failure: { code: 'DEPOSIT_MISSING' } })
    expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(3n * AMOUNT)
  })

  test('the second of two, and what a stranger adds; a stranger gets nothing by it', async () => {
    const { swapId, wallet, build, send, address } = await opened()
    const stranger = await world.walletWith(alpha, 'USDC', AMOUNT)
    await send()
    await send()
    await pay(alpha, stranger.address, { to: address, symbol: 'USDC', amount: 5n })

    const ended = await outcomeOf({ api }, swapId)
    await passDeadline(alpha, build)
    await returnedOf(swapId)

    expect(ended.status).toBe('settled')
    expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(2n * AMOUNT + 5n)
    expect(await beta.balanceOf(stranger.address, 'GEO')).toBe(0n)
  })

  test('too little, once the op is over', async () => {
    const { swapId, wallet, build, address } = await opened()
    await pay(alpha, wallet.address, { to: address, symbol: 'USDC', amount: AMOUNT - 1n })
    await until(async () => (await api.status(swapId, 0)).body.deposit?.received)

    await passDeadline(alpha, build)
    const ended = await outcomeOf({ api }, swapId)
    await returnedOf(swapId)

    expect(ended.failure?.code).toBe('DEPOSIT_TOO_SMALL')
    expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(3n * AMOUNT)
  })
})

test('a wallet that is short of the input is told at the build, and a signature is refused', async () => {
  const [poor, wallet] = [newWallet(), await world.walletWith(alpha, 'USDC', AMOUNT)]
  const quote = await quoteOnceSettled(api, toRequest(poor, order))
  const { build } = await buildBy({ api }, wallet, { order, method })
  const signature = await signBuild(wallet, build)

  const short = await api.build({ geoQuoteToken: quote.geoQuoteToken, method })
  const signed = await api.submit({ geoOpToken: build.geoOpToken, signature })

  expect([refusalOf(short), refusalOf(signed)]).toEqual(['422 INSUFFICIENT_BALANCE', '400 INVALID_REQUEST'])
})
