import type { StatusReply } from '@geoswap/wire'
import type { KeyPairSigner } from '@solana/kit'
import { getCloseAccountInstruction } from '@solana-program/token'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterEach, expect, inject, test } from 'vitest'
import { createCheckedClient } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import {
  accountOf,
  endFaults,
  freeze,
  hurryToEnd,
  hurryUntil,
  openAccount,
  readEffects,
  type SolanaOrder,
  submitSolanaSwap,
  untilLater,
  untilTaken,
} from '../solana-orders.ts'
import { createSolanaWorld } from '../solana-world.ts'
import { createWorld, outcomeOf, quoteOnceSettled, stageOf, submitSwap, toRequest, until } from '../world.ts'

const local = inject('local')
const world = createWorld(local)
const { alpha } = world
const solana = await createSolanaWorld(local)
const api = createCheckedClient({ ...local, apiKey: await createOperator(inject('databaseUrl')).createKey() })
const counter = { api, solana }

const USDC = 1_000_000n
const SOL = 10n ** 9n
const toEther = { to: alpha, buy: 'ETH', recipient: privateKeyToAddress(generatePrivateKey()) }

afterEach(async () => {
  await Promise.all([alpha.resume(), endFaults(solana)])
  await world.setPrice('ETH', 2_500)
  await until(async () => Math.abs((await priceOfEther()) - 2_500) < 50)
})

/**
 * In whole dollars as the API quotes it now, costs included. For the coin, since pools sell WETH at their own
 * prices.
 */
async function priceOfEther(): Promise<number> {
  const exact = { amount: 10n ** 18n, tradeType: 'exactOutput' as const }
  const request = { from: alpha, sell: 'USDC', to: alpha, buy: 'ETH', ...exact }
  const { input } = await quoteOnceSettled(api, toRequest({ address: toEther.recipient }, request))
  return Number(BigInt(input) / USDC)
}

/** Sets both feeds: while they disagree there is no price, and locked swaps are delivered. */
async function setPrice(asset: string, usd: number): Promise<void> {
  const isAgreed = true
  await world.movePrice(alpha, asset, usd, isAgreed)
  // The worker reads the chains itself: it has done so within these blocks.
  const head = await alpha.client.getBlockNumber()
  await until(async () => (await alpha.client.getBlockNumber()) >= head + 6n)
}

const held = (owner: string, symbol: string) => solana.balanceOf(owner, solana.token(symbol))

/** Submits while Solana is paused: the input is taken, and nothing happens before time advances. */
async function submitTaken(wallet: KeyPairSigner, order: SolanaOrder): Promise<string> {
  await solana.dev.dev_pauseSlots().send()
  const { swapId, operation } = await submitSolanaSwap(counter, wallet, order)
  await untilTaken(solana, operation)
  return swapId
}

/** The refund is a confirmed transaction that paid this much to the wallet's account. */
async function expectRefunded(
  outcome: StatusReply,
  refund: { reason: string; account: string; amount: bigint },
) {
  const { reason, account, amount } = refund
  expect(outcome).toMatchObject({ status: 'refunded', refund: { reason, amount: `${amount}` } })
  const { failed, tokens, lamports } = await readEffects(solana, outcome.refund?.txHash ?? '')
  expect(failed).toBe(false)
  const isNative = outcome.refund?.token === solana.token('SOL')
  expect((isNative ? lamports : tokens).get(account)).toBe(amount)
}

async function close(owner: KeyPairSigner, symbol: string): Promise<void> {
  const account = await accountOf(solana, owner.address, symbol)
  await solana.send(getCloseAccountInstruction({ account, destination: solana.payer.address, owner }))
}

test("a recipient's account that is frozen or closed after the lock causes a refund on alpha", async () => {
  const recipients = [await solana.wallet({ USDC }), await solana.wallet()] as const
  await openAccount(solana, recipients[1].address, 'USDC')
  const route = { from: alpha, sell: 'USDC', to: solana, buy: 'USDC', amount: 10n * USDC }
  const wallets = await Promise.all(recipients.map(() => world.walletWith(alpha, 'USDC', 10n * USDC)))
  await alpha.halt()
  const submit = (wallet: (typeof wallets)[number], at: number) =>
    submitSwap({ api }, wallet, { ...route, recipient: recipients[at]?.address ?? '' })
  const swaps = await Promise.all(wallets.map(submit))
  await Promise.all(swaps.map(({ swapId }) => stageOf({ api }, swapId, 'locking')))
  await alpha.untilPending()

  await freeze(solana, await accountOf(solana, recipients[0].address, 'USDC'))
  await close(recipients[1], 'USDC')
  await alpha.resume()
  const outcomes = await Promise.all(swaps.map(({ swapId }) => outcomeOf({ api }, swapId)))

  const refund = { reason: 'RECIPIENT_INVALID', amount: '10000000' }
  expect(outcomes).toMatchObject(wallets.map(() => ({ status: 'refunded', refund })))
  const back = await Promise.all(wallets.map(({ address }) => alpha.balanceOf(address, 'USDC')))
  expect(back).toEqual([10n * USDC, 10n * USDC])
  expect(await held(recipients[0].address, 'USDC')).toBe(USDC)
})

test("a recipient's account that is frozen after the input was taken causes a refund on Solana", async () => {
  const [wallet, recipient] = [await solana.wallet({ USDC: 25n * USDC }), await solana.wallet({ GEO: SOL })]
  const order = { sell: 'USDC', to: solana, buy: 'GEO', amount: 10n * USDC, recipient: recipient.address }
  const swapId = await submitTaken(wallet, order)

  await freeze(solana, await accountOf(solana, recipient.address, 'GEO'))
  await solana.dev.dev_resumeSlots().send()
  const outcome = await hurryToEnd(counter, swapId)

  const account = await accountOf(solana, wallet.address, 'USDC')
  await expectRefunded(outcome, { reason: 'RECIPIENT_INVALID', account, amount: 10n * USDC })
  expect(await held(wallet.address, 'USDC')).toBe(25n * USDC)
  expect(await held(recipient.address, 'GEO')).toBe(SOL)
})

test('a price that moves after the input was taken causes a refund to the last unit', async () => {
  const [wallet, native] = [await solana.wallet({ USDG: 10_000_001n }), await solana.wallet({ SOL })]
  const swapId = await submitTaken(wallet, { ...toEther, sell: 'USDG', amount: 10_000_001n })
  const nativeSwapId = await submitTaken(native, { ...toEther, sell: 'SOL', amount: SOL })

  await setPrice('ETH', 2_900)
  await solana.dev.dev_resumeSlots().send()
  const outcome = await hurryToEnd(counter, swapId)
  const nativeOutcome = await hurryToEnd(counter, nativeSwapId)

  const account = await accountOf(solana, wallet.address, 'USDG')
  await expectRefunded(outcome, { reason: 'PRICE_MOVED', account, amount: 10_000_001n })
  await expectRefunded(nativeOutcome, { reason: 'PRICE_MOVED', account: native.address, amount: SOL })
  expect(await held(wallet.address, 'USDG')).toBe(10_000_001n)
  expect(await held(native.address, 'SOL')).toBe(SOL)
  expect(await alpha.balanceOf(toEther.recipient, 'ETH')).toBe(0n)
})

test('a refund that the network loses is sent again, and paid once', async () => {
  const wallet = await solana.wallet({ USDC: 10n * USDC })
  const swapId = await submitTaken(wallet, { ...toEther, sell: 'USDC', amount: 10n * USDC })

  await setPrice('ETH', 2_900)
  await solana.dev.dev_resumeSlots().send()
  await stageOf({ api }, swapId, 'locked')
  await solana.dev.dev_dropTransactions({ probability: 1 }).send()
  await hurryUntil(counter, swapId, ({ timeline }) => timeline.some(({ stage }) => stage === 'refunding'))
  await untilLater(solana, 2n)
  await solana.dev.dev_dropTransactions(0).send()
  const outcome = await hurryToEnd(counter, swapId)

  const account = await accountOf(solana, wallet.address, 'USDC')
  await expectRefunded(outcome, { reason: 'PRICE_MOVED', account, amount: 10n * USDC })
  expect(await held(wallet.address, 'USDC')).toBe(10n * USDC)
})

test('a refund waits for a wallet that closed its account, and arrives when it has one again', async () => {
  const wallet = await solana.wallet({ USDC: 10n * USDC })
  const swapId = await submitTaken(wallet, { ...toEther, sell: 'USDC', amount: 10n * USDC })
  await setPrice('ETH', 2_900)
  await solana.dev.dev_resumeSlots().send()
  await close(wallet, 'USDC')

  const blocked = await hurryUntil(counter, swapId, ({ substatus }) => substatus === 'refundBlocked')
  const account = await openAccount(solana, wallet.address, 'USDC')
  const outcome = await hurryToEnd(counter, swapId)

  expect(blocked.status).toBe('pending')
  await expectRefunded(outcome, { reason: 'PRICE_MOVED', account, amount: 10n * USDC })
  expect(await held(wallet.address, 'USDC')).toBe(10n * USDC)
})
