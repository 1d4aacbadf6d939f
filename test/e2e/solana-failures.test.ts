import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit'
import { getTransferCheckedInstruction } from '@solana-program/token'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { createCheckedClient, refusalOf } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import {
  accountOf,
  endFaults,
  hurryToEnd,
  openAccount,
  prepareSolana,
  submitSolanaSwap,
  transactionsOf,
  untilLater,
} from '../solana-orders.ts'
import { createSolanaWorld } from '../solana-world.ts'
import { createWorld, outcomeOf, stageOf, submitSwap, until } from '../world.ts'

const local = inject('local')
const world = createWorld(local)
const { alpha } = world
const solana = await createSolanaWorld(local)
const operator = createOperator(inject('databaseUrl'))
const api = createCheckedClient({ ...local, apiKey: await operator.createKey() })
const counter = { api, solana }

const USDC = 1_000_000n
const recipient = privateKeyToAddress(generatePrivateKey())
const order = { sell: 'USDC', to: alpha, buy: 'USDC', amount: 10n * USDC, recipient }
// A blockhash is valid for 150 slots, and 32 more make its end final.
const LIFE_SLOTS = 184

afterEach(() => endFaults(solana))

const held = (wallet: { address: string }) => solana.balanceOf(wallet.address, solana.token('USDC'))

/** The wallet transfers its balance away; resolves when that is confirmed. */
async function empty(wallet: KeyPairSigner): Promise<void> {
  const source = await accountOf(solana, wallet.address, 'USDC')
  const destination = await openAccount(solana, (await generateKeyPairSigner()).address, 'USDC')
  const transfer = { source, destination, mint: solana.token('USDC'), authority: wallet, decimals: 6 }
  await solana.send(getTransferCheckedInstruction({ ...transfer, amount: await held(wallet) }))
}

describe('an input that is gone', () => {
  test('before the transaction is sent: the swap ends failed', async () => {
    const wallet = await solana.wallet({ USDC: 10n * USDC })
    const { submission, operation } = await prepareSolana(counter, wallet, order)
    await empty(wallet)

    const { body } = await api.submitSolana(submission)
    const outcome = await outcomeOf({ api }, body.swapId)

    expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'INPUT_UNAVAILABLE' } })
    expect(outcome.originTxHash).toBeUndefined()
    expect(await transactionsOf(solana, { account: operation.destination, opId: operation.opId })).toEqual([])
  })

  test('when the transaction lands: the swap ends failed, and tokens that return later are not taken', async () => {
    const wallet = await solana.wallet({ USDC: 10n * USDC })
    const { submission, operation } = await prepareSolana(counter, wallet, order)
    const destination = await openAccount(solana, solana.payer.address, 'USDC')
    const source = await accountOf(solana, wallet.address, 'USDC')
    const transfer = { source, destination, mint: solana.token('USDC'), decimals: 6 }
    await solana.dev.dev_pauseSlots().send()
    // Until time advances, only the newest block has this change, and the service does not read it.
    const leaving = solana.send(getTransferCheckedInstruction({ ...transfer, authority: wallet, amount: 1n }))
    const options = { commitment: 'processed' } as const
    await until(async () => {
      const { value } = await solana.rpc.getTokenAccountBalance(source, options).send()
      return value.amount === '9999999'
    })

    const { body } = await api.submitSolana(submission)
    await stageOf({ api }, body.swapId, 'locking')
    await solana.dev.dev_resumeSlots().send()
    await leaving
    await solana.fund(wallet.address, 'USDC', 1n)
    const outcome = await hurryToEnd(counter, body.swapId)

    expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'INPUT_UNAVAILABLE' } })
    expect(await held(wallet)).toBe(10n * USDC)
    const sent = await transactionsOf(solana, { account: operation.destination, opId: operation.opId })
    expect(sent.map(({ failed }) => failed)).toEqual([true])
  })
})

test('an input that does not land in time ends failed, and takes nothing when it is sent later', async () => {
  const wallet = await solana.wallet({ USDC: 100n * USDC })
  const { submission, operation } = await prepareSolana(counter, wallet, order)
  await solana.dev.dev_delayTransactions({ count: 1_000, slots: 1_000 }).send()
  const { body } = await api.submitSolana(submission)
  await stageOf({ api }, body.swapId, 'locking')
  await untilLater(solana, 2n)

  await solana.dev.dev_advanceSlots(LIFE_SLOTS).send()
  const outcome = await outcomeOf({ api }, body.swapId)
  await solana.dev.dev_advanceSlots(1_000).send()

  expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'OPERATION_EXPIRED' } })
  expect(await held(wallet)).toBe(100n * USDC)
  expect(await transactionsOf(solana, { account: operation.destination, opId: operation.opId })).toEqual([])
  expect((await api.submitSolana(submission)).body).toEqual({ swapId: body.swapId, status: 'failed' })
})

/** Waits until the service has seen the newest slot. Its processes see it within a second. */
async function untilFollowed(): Promise<void> {
  const newest = await solana.rpc.getSlot({ commitment: 'confirmed' }).send()
  await until(async () => {
    const sql = "select view#>>'{heads,head,number,$bigint}' as slot from chain_views where chain_id = $1"
    const [view] = await operator.query<{ slot: string }>(sql, [solana.chainId])
    return view !== undefined && BigInt(view.slot) >= newest
  })
  await untilLater(solana, 4n)
}

test('410 OPERATION_EXPIRED once the blockhash has expired, and nothing is stored or taken', async () => {
  const wallet = await solana.wallet({ USDC: 10n * USDC })
  const { submission, operation } = await prepareSolana(counter, wallet, order)

  await solana.dev.dev_advanceSlots(160).send()
  await untilFollowed()
  const replies = [await api.submitSolana(submission), await api.submitSolana(submission)]

  expect(replies.map(refusalOf)).toEqual(['410 OPERATION_EXPIRED', '410 OPERATION_EXPIRED'])
  expect(await transactionsOf(solana, { account: operation.destination, opId: operation.opId })).toEqual([])
  const fresh = await prepareSolana(counter, wallet, order)
  expect(refusalOf(await api.submitSolana(fresh.submission))).toBe('200 OK')
})

/** Submits on alpha; the delivery is the only transaction of a new account on Solana. */
async function submitDelivery() {
  const wallet = await world.walletWith(alpha, 'USDC', 10n * USDC)
  const { address: to } = await generateKeyPairSigner()
  const route = { from: alpha, sell: 'USDC', to: solana, buy: 'USDC', amount: 10n * USDC, recipient: to }
  const { quote, swapId } = await submitSwap({ api }, wallet, route)
  return { quote, swapId, to }
}

async function expectDeliveredOnce({ quote, swapId, to }: Awaited<ReturnType<typeof submitDelivery>>) {
  const outcome = await outcomeOf({ api }, swapId)
  expect(outcome).toMatchObject({ status: 'settled', amounts: { delivered: quote.output } })
  expect(await held({ address: to })).toBe(BigInt(quote.output))
  const account = await accountOf(solana, to, 'USDC')
  const sent = await solana.rpc.getSignaturesForAddress(account, { commitment: 'confirmed' }).send()
  expect(sent.map(({ signature }) => signature)).toEqual([outcome.deliveryTxHash])
}

async function expectTakenOnce({ swapId, operation }: Awaited<ReturnType<typeof submitSolanaSwap>>) {
  expect((await outcomeOf({ api }, swapId)).status).toBe('settled')
  expect(await held({ address: operation.wallet })).toBe(90n * USDC)
  expect(await transactionsOf(solana, { account: operation.destination, opId: operation.opId })).toHaveLength(
    1,
  )
}

test('an input and a delivery that the network loses are sent again, and happen once', async () => {
  const wallet = await solana.wallet({ USDC: 100n * USDC })
  await solana.dev.dev_dropTransactions({ probability: 1 }).send()
  const [input, delivery] = await Promise.all([submitSolanaSwap(counter, wallet, order), submitDelivery()])
  await stageOf({ api }, input.swapId, 'locking')
  await stageOf({ api }, delivery.swapId, 'delivering')
  await untilLater(solana, 2n)
  expect(await held(wallet)).toBe(100n * USDC)

  await solana.dev.dev_dropTransactions(0).send()

  await expectTakenOnce(input)
  await expectDeliveredOnce(delivery)
})

test('an input and a delivery that land late happen once, however often they were sent', async () => {
  const wallet = await solana.wallet({ USDC: 100n * USDC })
  await solana.dev.dev_delayTransactions({ count: 1_000, slots: 8 }).send()

  const [input, delivery] = await Promise.all([submitSolanaSwap(counter, wallet, order), submitDelivery()])

  await expectTakenOnce(input)
  await expectDeliveredOnce(delivery)
})

test('a delivery that did not land in time is signed again, and paid once', async () => {
  await solana.dev.dev_delayTransactions({ count: 1_000, slots: 1_000 }).send()
  const swap = await submitDelivery()
  await stageOf({ api }, swap.swapId, 'delivering')
  await untilLater(solana, 2n)

  await solana.dev.dev_advanceSlots(LIFE_SLOTS).send()
  await solana.dev.dev_delayTransactions({ count: 0, slots: 0 }).send()
  await expectDeliveredOnce(swap)
  await solana.dev.dev_advanceSlots(1_000).send()

  expect(await held({ address: swap.to })).toBe(BigInt(swap.quote.output))
})
