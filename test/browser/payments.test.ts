import type { BuildGeoOpReply } from '@geoswap/wire'
import type { Page } from 'playwright-core'
import { parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { passDeadline } from '../ways.ts'
import { createWorld, outcomeOf, quoteOnceSettled, toRequest, until } from '../world.ts'
import { findFlaws } from './axe.ts'
import { useBrowser } from './browser.ts'
import { connect, installEvmWallet } from './evm-wallet.ts'
import { expectText, rowOf, swapIdOf } from './steps.ts'

const world = createWorld(inject('local'))
const { alpha, beta } = world
const { visit } = useBrowser()
const AMOUNT = parseEther('0.01')
const HELD = parseEther('0.05')

afterEach(async () => {
  await Promise.all([alpha.resume(), beta.resume()])
})

/** A wallet that only sends transactions, with WETH and gas, and the page with its order. */
async function opened(options: { to?: string; hasCalls?: boolean; callsStatus?: number } = {}) {
  const { to = 'solana:SOL', hasCalls = false, callsStatus } = options
  const privateKey = generatePrivateKey()
  const { address } = privateKeyToAccount(privateKey)
  await world.fund(alpha, address, 'WETH', HELD)
  await alpha.client.setBalance({ address, value: parseEther('1') })
  const page = await visit()
  const wallet = await installEvmWallet(page, privateKey, { chains: [alpha], hasCalls, callsStatus })
  await page.goto(`/app/swap?from=alpha:WETH&to=${to}&amount=0.01`)
  await connect(page, 'Pocket')
  await expectText(page, 'Pocket pays WETH with one ordinary transaction, and its gas in ETH.')
  return { page, address, ...wallet }
}

/** Reviews and agrees; returns the build. */
async function agree(page: Page): Promise<BuildGeoOpReply> {
  const built = page.waitForResponse((response) => response.url().endsWith('/swap/build-geo-op'))
  await page.getByRole('button', { name: 'Review the swap', disabled: false }).click()
  await expectText(page, 'Pay for this swap?')
  await page.getByRole('button', { name: 'Send and swap' }).click()
  return (await built).json()
}

/** The wallet shows a request until its owner decides. */
function hold(owner: { confirms(): Promise<boolean> }) {
  let confirm = () => {}
  const confirmed = new Promise<boolean>((resolve) => {
    confirm = () => resolve(true)
  })
  owner.confirms = () => confirmed
  return () => confirm()
}

const sends = (asked: string[]) => asked.filter((method) => /_send/.test(method))
const wethOf = (address: `0x${string}`) => alpha.balanceOf(address, 'WETH')

test.each([
  ['to SOL by an ordinary transaction', false, 'solana:SOL', 'eth_sendTransaction', 'transfer'],
  ['to SOL by calls of EIP-5792', true, 'solana:SOL', 'wallet_sendCalls', 'transfer'],
  ['to WETH by a deposit', false, 'beta:WETH', 'eth_sendTransaction', 'deposit'],
])('a wallet that only sends transactions swaps WETH %s', async (_, hasCalls, to, method, way) => {
  const { page, address, asked } = await opened({ hasCalls, to })
  const output = page.getByLabel('Amount to receive')
  await expect.poll(() => output.textContent()).toMatch(/^0\.\d/)
  const quoted = await output.textContent()
  await page.getByRole('button', { name: 'Review the swap', disabled: false }).click()
  await expectText(page, /in one ordinary transaction.*pays the gas.*comes/)
  await page.getByText(/^Send by \d/).waitFor()
  const flaws = await findFlaws(page)
  await page.setViewportSize({ width: 320, height: 640 })
  flaws.push(...(await findFlaws(page)))
  const received = await rowOf(page, 'You receive on')

  await page.getByRole('button', { name: 'Send and swap' }).click()

  await expectText(page, /^Done\. 0\.\d+ (SOL|WETH) arrived\.$/)
  const { status, method: taken } = await outcomeOf(world, await swapIdOf(page))
  expect([status, taken]).toEqual(['settled', way])
  expect(flaws).toEqual([])
  expect(received).toMatch(new RegExp(`^${String(quoted).slice(0, 4)}`))
  expect(sends(asked)).toEqual([method])
  expect(asked.filter((each) => /sign/i.test(each))).toEqual([])
  expect(await wethOf(address)).toBe(HELD - AMOUNT)
})

test('a wallet without gas, or without a way that it can do, is told before the review', async () => {
  const page = await visit()
  const privateKey = generatePrivateKey()
  const { address } = privateKeyToAccount(privateKey)
  await world.fund(alpha, address, 'WETH', HELD)
  await alpha.client.setBalance({ address, value: 0n })
  await installEvmWallet(page, privateKey)
  await page.goto('/app/swap?from=alpha:WETH&to=solana:SOL&amount=0.01')
  await connect(page, 'Pocket')
  const disabled = (name: string) => page.getByRole('button', { name, disabled: true }).waitFor()

  await disabled('Get some ETH for gas: the wallet sends a transaction.')
  await page.route('**/swap/quote', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), originMethods: [] } })
  })
  await page.getByLabel('Amount to pay').fill('0.02')
  await disabled('Pocket cannot pay WETH from alpha.')
  await expectText(page, 'Pocket cannot pay WETH from alpha here.')
})

test('a rejected transaction was not sent, and the wallet is asked again only by a click', async () => {
  const { page, address, asked, owner } = await opened()
  owner.confirms = async () => false

  await agree(page)
  await expectText(page, 'You said no in the wallet. Nothing was signed or sent.')
  expect([sends(asked).length, await wethOf(address)]).toEqual([1, HELD])
  await page.reload()
  await expectText(page, 'Pocket was not asked for it yet.')
  expect(sends(asked)).toHaveLength(1)
  owner.confirms = async () => true
  await page.getByRole('button', { name: 'Ask Pocket to send it' }).click()

  await expectText(page, /^Done\. /)
  expect(await wethOf(address)).toBe(HELD - AMOUNT)
})

test('a batch that the wallet could not send is shown as failed, and the wallet is not asked again', async () => {
  const { page, address, asked } = await opened({ hasCalls: true, callsStatus: 500 })

  await agree(page)
  await expectText(page, 'Pocket says that its transaction failed, so it paid nothing.')
  await page.reload()
  await expectText(page, 'Pocket says that its transaction failed, so it paid nothing.')

  expect(await page.getByRole('button', { name: /^Ask Pocket/ }).count()).toBe(0)
  expect(sends(asked)).toEqual(['wallet_sendCalls'])
  expect(await wethOf(address)).toBe(HELD)
})

test('a wallet on another chain that does not switch sends nothing, and pays once it does', async () => {
  const { page, address, owner } = await opened()
  owner.switches = false

  await agree(page)
  await expectText(page, `does not switch to chain ${alpha.chainId}. Switch it there.`)
  expect(await wethOf(address)).toBe(HELD)
  owner.switches = true
  await page.getByRole('button', { name: 'Ask Pocket to send it' }).click()

  await expectText(page, /^Done\. /)
})

describe('the wallet is asked once', () => {
  test('also after a reload and by the back button, once it has sent', async () => {
    const { page, address, asked } = await opened()
    await alpha.halt()
    await agree(page)
    await expectText(page, 'Pocket has sent it. It is on its way into a block.')

    await page.reload()
    await expectText(page, 'Pocket has sent it. It is on its way into a block.')
    await page.goBack()
    await page.goForward()
    await expectText(page, 'Pocket has sent it. It is on its way into a block.')
    await alpha.resume()

    await expectText(page, /^Done\. /)
    expect(sends(asked)).toHaveLength(1)
    expect(await wethOf(address)).toBe(HELD - AMOUNT)
  })

  test('also after a reload before it answered; what it sends then is swapped', async () => {
    const { page, address, asked, owner } = await opened()
    const confirm = hold(owner)
    await agree(page)
    await expectText(page, 'Confirm the transaction in Pocket.')
    await expect.poll(() => sends(asked)).toHaveLength(1)

    await page.reload()
    await expectText(page, /Pocket was asked for this transaction, and its answer is not known\./)
    expect(await page.getByRole('button', { name: /^Ask Pocket/ }).count()).toBe(0)
    confirm()

    await expectText(page, /^Done\. /)
    expect(sends(asked)).toHaveLength(1)
    expect(await wethOf(address)).toBe(HELD - AMOUNT)
  })
})

describe('an amount that is not swapped comes back', () => {
  const order = { from: alpha, sell: 'WETH', to: beta, buy: 'GEO', amount: AMOUNT }
  const anyone = privateKeyToAccount(generatePrivateKey())
  const outputNow = async () => BigInt((await quoteOnceSettled(world.api, toRequest(anyone, order))).output)

  /** The market moves, and quotes have this share of the usual output. */
  async function movePrice(price: number, usual: bigint, expectedBps: number): Promise<void> {
    await world.setPrice('GEO', price)
    await until(async () => Math.abs(Number(((await outputNow()) * 10_000n) / usual) - expectedBps) <= 5)
  }

  test('if the price moved too far before it arrived', async () => {
    const usual = await outputNow()
    const { page, address, owner } = await opened({ to: 'beta:GEO' })
    const confirm = hold(owner)
    try {
      const build = await agree(page)
      await expectText(page, 'Confirm the transaction in Pocket.')
      await movePrice(0.52, usual, 9_615)
      confirm()

      await expectText(page, /^It did not happen, and what was sent goes back to the wallet\./)
      await passDeadline(alpha, build)
      await expectText(page, /^It did not happen, and all that was sent is back in the wallet\./)
      expect(await rowOf(page, 'Sent back')).toMatch(/^0\.01 WETH 0x/)
      expect(await wethOf(address)).toBe(HELD)
    } finally {
      await movePrice(0.5, usual, 10_000)
    }
  })

  test('if the wallet sends it too late', async () => {
    const { page, address, owner } = await opened()
    const confirm = hold(owner)
    const build = await agree(page)
    await expectText(page, 'Confirm the transaction in Pocket.')

    await passDeadline(alpha, build)
    await expectText(
      page,
      'If the wallet still sends its transaction, it is not swapped: all of it comes back',
    )
    confirm()

    await until(async () => (await wethOf(address)) === HELD - AMOUNT)
    await until(async () => (await wethOf(address)) === HELD)
  })
})
