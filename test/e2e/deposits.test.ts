import { depositAddressOf } from '@geoswap/protocol'
import type { BuildGeoOpReply, StatusReply } from '@geoswap/wire'
import { type Address, type Hex, pad, parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient, refusalOf } from '../checked-client.ts'
import { setCode } from '../instant-wallet.ts'
import { createOperator } from '../operator.ts'
import { buildBy, passDeadline, pay, submitBy } from '../ways.ts'
import { createWorld, type Order, outcomeOf, quoteOnceSettled, stageOf, toRequest, until } from '../world.ts'
import { type Offer, offerIn, signPayment, usdcUrl } from '../x402.ts'

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

// Sends the value of a call on to the address in its data.
const FORWARDER = '0x5f5f5f5f345f355af100'

const newWallet = () => privateKeyToAccount(generatePrivateKey())

const openedSwaps: string[] = []

/** A swap that waits for its deposit, of a wallet that holds nothing, and somebody who can pay. */
async function opened(asked: Order = order) {
  const wallet = newWallet()
  const payer = await world.walletWith(asked.from, asked.sell, 100n * asked.amount)
  const { swapId, build } = await submitBy({ api }, wallet, { order: asked, method })
  openedSwaps.push(swapId)
  const address = build.depositAddress as Address
  const send = (amount: bigint, symbol = asked.sell) =>
    pay(asked.from, payer.address, { to: address, symbol, amount })
  return { wallet, payer, swapId, build, address, send }
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
    deposit: { address, until: build.depositUntil, next: expect.stringContaining(`Send ${AMOUNT} units`) },
  })

  const txHash = await send(AMOUNT)
  const ended = await outcomeOf({ api }, swapId)

  expect(ended.status).toBe('settled')
  const received = AMOUNT.toString()
  expect(ended.deposit).toEqual({ address, until: build.depositUntil, received, txHash })
  expect(ended.timeline.map(({ stage }) => stage).slice(0, 2)).toEqual(['awaitingDeposit', 'accepted'])
  expect(await beta.balanceOf(wallet.address, 'USDC')).toBe(BigInt(ended.amounts.quotedOutput))
})

describe('native coin', () => {
  const amount = parseEther('0.1')
  const coins = { ...order, sell: 'ETH', buy: 'ETH', amount }

  test('is swapped too, and its transaction is found without a log', async () => {
    const { swapId, send } = await opened(coins)

    const txHash = await send(amount)
    const ended = await outcomeOf({ api }, swapId)

    expect(ended.status).toBe('settled')
    expect(ended.deposit).toMatchObject({ received: amount.toString(), txHash })
  })

  test('sent by a contract is swapped, and has no transaction to show', async () => {
    const { swapId, address, payer } = await opened(coins)
    const forwarder = newWallet().address
    await setCode(alpha, forwarder, FORWARDER)

    await alpha.as(payer.address, { to: forwarder, data: pad(address), value: amount })
    const ended = await outcomeOf({ api }, swapId)

    expect(ended.status).toBe('settled')
    expect(ended.deposit).not.toHaveProperty('txHash')
  })
})

test('a deposit in two parts is swapped when both are there', async () => {
  const { swapId, send } = await opened()

  await send(AMOUNT / 2n)
  const seen = await until(async () => {
    const { body } = await api.status(swapId, 0)
    return body.deposit?.received === (AMOUNT / 2n).toString() ? body : undefined
  })
  expect(seen.substatus).toBe('awaitingDeposit')
  expect(seen.deposit?.next).toContain(`Send ${AMOUNT / 2n} more units by ${seen.deposit?.until}`)
  await send(AMOUNT / 2n)

  expect((await outcomeOf({ api }, swapId)).status).toBe('settled')
})

describe('a reorg', () => {
  // It would undo claims of earlier swaps, and until they are sent again no lock could follow them.
  beforeEach(() =>
    until(async () => {
      const claimed = "select from swaps where id = any($1) and state in ('settled', 'claiming')"
      return (await operator.query(claimed, [openedSwaps])).length === 0
    }),
  )

  afterEach(async () => {
    await Promise.all([alpha.resume(), beta.resume()])
  })

  /** Reverts to the snapshot, as a reorg to an empty branch would, and continues from there. */
  async function reorg(snapshot: Hex): Promise<void> {
    await alpha.client.revert({ id: snapshot })
    await alpha.mine()
    await alpha.resume()
  }

  test('that undoes a deposit before its lock: the swap waits for it again', async () => {
    const { swapId, send } = await opened()
    // Nothing is locked while the destination stands still.
    await beta.halt()
    await until(async () => (await api.quote(toRequest(newWallet(), order))).status === 503)
    await alpha.halt()
    const snapshot = await alpha.client.snapshot()
    await send(AMOUNT)
    await alpha.mine()
    const seen = await stageOf({ api }, swapId, 'accepted')

    await reorg(snapshot)
    await beta.resume()
    const lost = await until(async () => {
      const { body } = await api.status(swapId, 0)
      return body.timeline.length === 3 ? body : undefined
    })
    const txHash = await send(AMOUNT)
    const ended = await outcomeOf({ api }, swapId)

    expect(seen).toMatchObject({ substatus: 'accepted', deposit: { received: AMOUNT.toString() } })
    expect(lost).toMatchObject({
      substatus: 'awaitingDeposit',
      deposit: { received: '0', next: expect.stringContaining(`Send ${AMOUNT} units`) },
    })
    expect(lost.deposit).not.toHaveProperty('txHash')
    expect(ended).toMatchObject({ status: 'settled', deposit: { received: AMOUNT.toString(), txHash } })
    expect(ended.timeline.map(({ stage }) => stage)).toEqual([
      ...['awaitingDeposit', 'accepted', 'awaitingDeposit', 'accepted'],
      ...['locking', 'locked', 'delivering', 'delivered'],
    ])
  })

  test('that undoes a deposit with its lock: it is locked again once the deposit is back', async () => {
    const { swapId, send, wallet } = await opened()
    await alpha.halt()
    const snapshot = await alpha.client.snapshot()
    await send(AMOUNT)
    await alpha.mine()
    await stageOf({ api }, swapId, 'locking')
    await alpha.untilPending(alpha.contracts.escrow)
    await alpha.mine()
    await stageOf({ api }, swapId, 'locked')

    await reorg(snapshot)
    await send(AMOUNT)
    const ended = await outcomeOf({ api }, swapId)

    expect(ended.status).toBe('settled')
    expect(await beta.balanceOf(wallet.address, 'USDC')).toBe(BigInt(ended.amounts.quotedOutput))
  })

  test('that undoes a deposit with its lock for good: the swap fails for want of a deposit', async () => {
    const { swapId, build, send } = await opened()
    await alpha.halt()
    const snapshot = await alpha.client.snapshot()
    await send(AMOUNT)
    await alpha.mine()
    await beta.halt()
    await stageOf({ api }, swapId, 'locking')
    await alpha.untilPending(alpha.contracts.escrow)

    await reorg(snapshot)
    await passDeadline(alpha, build)
    const ended = await outcomeOf({ api }, swapId)

    expect(ended).toMatchObject({ status: 'failed', failure: { code: 'DEPOSIT_MISSING' } })
  })
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
  const over = async (swapId: string, build: BuildGeoOpReply): Promise<StatusReply> => {
    await passDeadline(alpha, build)
    return outcomeOf({ api }, swapId)
  }

  test('nothing came: the swap fails', async () => {
    const { swapId, build } = await opened()

    const ended = await over(swapId, build)

    expect(ended).toMatchObject({ status: 'failed', failure: { code: 'DEPOSIT_MISSING' } })
  })

  test('too little came', async () => {
    const { swapId, build, send, wallet } = await opened()
    await send(AMOUNT - 1n)
    await until(async () => (await api.status(swapId, 0)).body.deposit?.received !== undefined)

    const ended = await over(swapId, build)
    const back = await returnedOf(swapId)

    expect(ended).toMatchObject({ status: 'failed', failure: { code: 'DEPOSIT_TOO_SMALL' } })
    expect(back.deposit?.returned).toMatchObject([
      { token: alpha.token('USDC'), amount: (AMOUNT - 1n).toString() },
    ])
    expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(AMOUNT - 1n)
  })

  test('it came too late', async () => {
    const { swapId, build, send, wallet } = await opened()
    await over(swapId, build)

    await send(AMOUNT)
    await returnedOf(swapId)

    expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(AMOUNT)
  })

  test('too much came, or it came twice: the rest goes back, the input is swapped', async () => {
    const { swapId, build, send, wallet } = await opened()
    await send(2n * AMOUNT + 5n)
    const ended = await outcomeOf({ api }, swapId)
    expect(ended.status).toBe('settled')
    expect(ended.deposit?.next).toMatch(`${AMOUNT + 5n} units were too many`)

    await passDeadline(alpha, build)
    const back = await returnedOf(swapId)

    expect(back.deposit).not.toHaveProperty('next')

    expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(AMOUNT + 5n)
  })

  test('the wrong token came', async () => {
    const { swapId, build, address, wallet } = await opened()
    await world.fund(alpha, address, 'WETH', parseEther('1'))

    const ended = await over(swapId, build)
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

test('a second payment of x402 that somebody else shows to the token goes back to the payer by itself', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 2n * AMOUNT)
  const held = () => alpha.balanceOf(wallet.address, 'USDC')
  const url = usdcUrl(local.apiUrl, { from: alpha, to: beta, wallet, amount: AMOUNT })
  const offer = offerIn<Offer>((await fetch(url)).headers) ?? expect.unreachable()
  const [first, second] = [await signPayment(wallet, offer), await signPayment(wallet, offer)]
  const pay = () => fetch(url, { headers: { 'payment-signature': first.header } })

  const paid = await pay()
  await alpha.as(newWallet().address, { to: offer.asset, data: second.call })
  await until(async () => (await held()) === 0n)
  await passDeadline(alpha, offer.extra)
  await until(async () => (await held()) === AMOUNT)

  const returned = [{ token: offer.asset, amount: `${AMOUNT}` }]
  const told = await until(async () => {
    const status = (await (await pay()).json()) as StatusReply
    return status.deposit?.returned ? status : undefined
  })
  expect([paid.status, told]).toMatchObject([200, { status: 'settled', deposit: { returned } }])
})
