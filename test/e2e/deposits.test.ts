import { depositAddressOf } from '@geoswap/protocol'
import type { StatusReply } from '@geoswap/wire'
import { type Address, type Hex, parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient, refusalOf } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import { buildBy, pay, submitBy } from '../ways.ts'
import { createWorld, type Order, outcomeOf, quoteOnceSettled, stageOf, toRequest, until } from '../world.ts'

const local = inject('local')
const world = createWorld(local)
const { alpha, beta } = world
const operator = createOperator(inject('databaseUrl'))
const USDC = 1_000_000n
const AMOUNT = 10n * USDC
const order: Order = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: AMOUNT }
const method = 'deposit'

let api: CheckedClient
beforeAll(async () => {
  api = createCheckedClient({ ...local, apiKey: await operator.createKey() })
})

const newWallet = () => privateKeyToAccount(generatePrivateKey())

/** A swap that waits for its deposit, of a wallet that holds nothing, and somebody who can pay. */
async function opened(asked: Order = order) {
  const wallet = newWallet()
  const payer = await world.walletWith(asked.from, asked.sell, 100n * asked.amount)
  const { swapId, build } = await submitBy({ api }, wallet, { order: asked, method })
  const address = build.depositAddress as Address
  const send = (amount: bigint, symbol = asked.sell) =>
    pay(asked.from, payer.address, { to: address, symbol, amount })
  return { wallet, payer, swapId, build, address, send }
}

/** The op's deadline passes on the chain. */
async function passDeadline(message: Record<string, unknown>): Promise<void> {
  const { timestamp } = await alpha.client.getBlock()
  await alpha.advance(Number(BigInt(String(message['opDeadline'])) - timestamp) + 1)
  await alpha.mine()
}

const returnedOf = (swapId: string) =>
  until(async () => {
    const { body } = await api.status(swapId, 0)
    return body.deposit?.returned ? body : undefined
  })

test('a plain transfer from anybody is swapped, without a signature', async () => {
  const { swapId, wallet, address, send, build } = await opened()
  expect(address).toBe(depositAddressOf(alpha.contracts.escrow, build.geoOpHash as Hex))
  const waiting = (await api.status(swapId, 0)).body
  expect(waiting).toMatchObject({
    status: 'pending',
    substatus: 'awaitingDeposit',
    method,
    deposit: { address },
  })

  await send(AMOUNT)
  const ended = await outcomeOf({ api }, swapId)

  expect(ended.status).toBe('settled')
  expect(ended.deposit).toMatchObject({ address, received: AMOUNT.toString() })
  expect(ended.deposit?.txHash).toMatch(/^0x[0-9a-f]{64}$/)
  expect(ended.timeline.map(({ stage }) => stage).slice(0, 2)).toEqual(['awaitingDeposit', 'accepted'])
  expect(await beta.balanceOf(wallet.address, 'USDC')).toBe(BigInt(ended.amounts.quotedOutput))
})

test('native coin is swapped too, and has no transaction to show', async () => {
  const { swapId, send } = await opened({ ...order, sell: 'ETH', buy: 'ETH', amount: parseEther('0.1') })

  await send(parseEther('0.1'))
  const ended = await outcomeOf({ api }, swapId)

  expect(ended.status).toBe('settled')
  expect(ended.deposit).not.toHaveProperty('txHash')
})

test('a deposit in two parts is swapped when both are there', async () => {
  const { swapId, send } = await opened()

  await send(AMOUNT / 2n)
  const seen = await until(async () => {
    const { body } = await api.status(swapId, 0)
    return body.deposit?.received === (AMOUNT / 2n).toString() ? body : undefined
  })
  expect(seen.substatus).toBe('awaitingDeposit')
  await send(AMOUNT / 2n)

  expect((await outcomeOf({ api }, swapId)).status).toBe('settled')
})

test('nothing is reserved for a deposit that did not arrive', async () => {
  const reservedOf = async () => {
    const [row] = await operator.query('select reserved from inventory where chain_id = $1 and token = $2', [
      beta.chainId,
      beta.token('USDC'),
    ])
    return (row as { reserved: string } | undefined)?.reserved
  }
  const before = await reservedOf()

  await opened()

  expect(await reservedOf()).toBe(before)
})

describe('a deposit that cannot be swapped goes back to the wallet', () => {
  const over = async (swapId: string, message: Record<string, unknown>): Promise<StatusReply> => {
    await passDeadline(message)
    return outcomeOf({ api }, swapId)
  }

  test('nothing came: the swap fails', async () => {
    const { swapId, build } = await opened()

    const ended = await over(swapId, build.operation.message)

    expect(ended).toMatchObject({ status: 'failed', failure: { code: 'DEPOSIT_MISSING' } })
  })

  test('too little came', async () => {
    const { swapId, build, send, wallet } = await opened()
    await send(AMOUNT - 1n)
    await until(async () => (await api.status(swapId, 0)).body.deposit?.received !== undefined)

    const ended = await over(swapId, build.operation.message)
    const back = await returnedOf(swapId)

    expect(ended).toMatchObject({ status: 'failed', failure: { code: 'DEPOSIT_TOO_SMALL' } })
    expect(back.deposit?.returned).toMatchObject([
      { token: alpha.token('USDC'), amount: (AMOUNT - 1n).toString() },
    ])
    expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(AMOUNT - 1n)
  })

  test('it came too late', async () => {
    const { swapId, build, send, wallet } = await opened()
    await over(swapId, build.operation.message)

    await send(AMOUNT)
    await returnedOf(swapId)

    expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(AMOUNT)
  })

  test('too much came, or it came twice: the rest goes back, the input is swapped', async () => {
    const { swapId, build, send, wallet } = await opened()
    await send(2n * AMOUNT + 5n)
    const ended = await outcomeOf({ api }, swapId)
    expect(ended.status).toBe('settled')

    await passDeadline(build.operation.message)
    await returnedOf(swapId)

    expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(AMOUNT + 5n)
  })

  test('the wrong token came', async () => {
    const { swapId, build, address, wallet } = await opened()
    await world.fund(alpha, address, 'WETH', parseEther('1'))

    const ended = await over(swapId, build.operation.message)
    const back = await returnedOf(swapId)

    expect(ended.failure?.code).toBe('DEPOSIT_MISSING')
    expect(back.deposit?.returned).toMatchObject([
      { token: alpha.token('WETH'), amount: parseEther('1').toString() },
    ])
    expect(await alpha.balanceOf(wallet.address, 'WETH')).toBe(parseEther('1'))
  })
})

test('history and events know the deposit', async () => {
  const { swapId, wallet, send } = await opened()
  await send(AMOUNT)
  await outcomeOf({ api }, swapId)

  const history = await api.call<{ swaps: StatusReply[] }>('GET', `/swap/history?wallet=${wallet.address}`)
  expect(history.body.swaps[0]).toMatchObject({ swapId, method, deposit: { received: AMOUNT.toString() } })
  const stages = (await stageOf({ api }, swapId, 'delivered')).timeline.map(({ stage }) => stage)
  expect(stages[0]).toBe('awaitingDeposit')
})

test('a deposit is not signed: 400 INVALID_REQUEST', async () => {
  const wallet = newWallet()
  const { build } = await buildBy({ api }, wallet, { order, method })
  const signature = await wallet.signMessage({ message: { raw: build.geoOpHash as Hex } })

  const reply = await api.submit({ geoOpToken: build.geoOpToken, signature })

  expect(refusalOf(reply)).toBe('400 INVALID_REQUEST')
})

test('only pegged assets have a deposit: its price holds for a quarter of an hour', async () => {
  const wallet = newWallet()
  const quote = await quoteOnceSettled(api, toRequest(wallet, { ...order, buy: 'ETH' }))

  expect(quote.originMethods?.map((way) => way.method)).not.toContain('deposit')
  const reply = await api.build({ geoQuoteToken: quote.geoQuoteToken, method })
  expect(refusalOf(reply)).toBe('422 UNSUPPORTED_METHOD')
})

test('submitting again returns the same swap', async () => {
  const { build } = await buildBy({ api }, newWallet(), { order, method })
  const submission = { geoOpToken: build.geoOpToken }

  const [first, second] = [await api.submit(submission), await api.submit(submission)]

  expect(second.body).toEqual(first.body)
})
