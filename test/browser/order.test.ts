import type { Page } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { createWorld, outcomeOf, submitSwap } from '../world.ts'
import { findFlaws } from './axe.ts'
import { useBrowser } from './browser.ts'
import { expectFocus, expectText, order, rowOf } from './steps.ts'

const world = createWorld(inject('local'))
const { alpha } = world
const { visit, expectErrors } = useBrowser()
const dollars = { from: 'alpha', pay: 'USDC', to: 'beta', receive: 'USDC', amount: '10' }
const OTHER = '0x00000000000000000000000000000000000000aa'
const SOLANA = 'So11111111111111111111111111111111111111112'

const orderOf = async (page: Page) => ({
  pay: await page.getByRole('button', { name: 'You pay: token' }).textContent(),
  receive: await page.getByRole('button', { name: 'You receive: token' }).textContent(),
  amount: await page.getByLabel('Amount to pay').inputValue(),
})
const queryOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)
const review = (page: Page) => page.getByRole('button', { name: 'Review the swap', disabled: false })

test('an address opens the order that it names, and the order names itself in its address', async () => {
  const page = await visit()
  await page.goto('/app/swap?from=beta:ETH&to=solana:USDC&amount=0.25')
  expect(await orderOf(page)).toEqual({
    pay: expect.stringMatching(/ETH$/),
    receive: expect.stringMatching(/USDC$/),
    amount: '0.25',
  })
  await page.getByRole('button', { name: 'You pay on chain: beta' }).waitFor()
  await page.getByRole('button', { name: 'You receive on chain: solana' }).waitFor()

  await page.getByLabel('Amount to pay').fill('0.5')
  const named = { from: 'beta:ETH', to: 'solana:USDC', amount: '0.5' }
  await expect.poll(() => queryOf(page)).toEqual(named)
  await page.reload()
  expect(await orderOf(page)).toMatchObject({ amount: '0.5' })

  const byNumber = `from=${alpha.chainId}:${alpha.token('USDC')}&to=SOLANA:sol&amount=12`
  await page.goto(`/app/swap?${byNumber}`)
  await expect.poll(() => queryOf(page)).toEqual({ from: 'alpha:USDC', to: 'solana:SOL', amount: '12' })
})

test('the back button leaves the review, signs nothing, and the review has an address of its own', async () => {
  const page = await visit()
  await order(page, dollars)
  await page.getByLabel('Amount to pay').press('Enter')
  await expectText(page, 'Allow this wallet to swap?')
  expect(queryOf(page)).toMatchObject({ from: 'alpha:USDC', amount: '10', step: 'review' })

  await page.goBack()
  await review(page).waitFor()
  expect(await orderOf(page)).toMatchObject({ amount: '10' })
  await page.goForward()
  await expectText(page, 'Allow this wallet to swap?')
  await page.reload()
  await expectText(page, 'Allow this wallet to swap?')
  await page.getByRole('button', { name: 'Back, sign nothing' }).click()

  await review(page).waitFor()
  expect(queryOf(page)).toEqual({ from: 'alpha:USDC', to: 'beta:USDC', amount: '10' })
  expect(await page.evaluate(() => sessionStorage.getItem('geoswap.active-swap'))).toBeNull()
})

test('the forward button after a change of the order reviews the order of its address, at a new price', async () => {
  const page = await visit()
  await order(page, dollars)
  await review(page).click()
  await page.getByRole('button', { name: 'Sign the authorization' }).waitFor()
  await page.goBack()
  await page.getByLabel('Amount to pay').fill('12')
  await page.waitForURL(/amount=12$/)
  await review(page).waitFor()

  const asked: unknown[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/swap/quote')) asked.push(request.postDataJSON()?.amount)
  })
  await page.goForward()
  await page.getByRole('button', { name: 'Sign the authorization' }).click()

  await expectText(page, 'Guaranteed minimum')
  expect(await rowOf(page, 'You pay on alpha')).toMatch(/^10 USDC/)
  expect(queryOf(page)).toMatchObject({ amount: '10', step: 'review' })
  expect(new Set(asked)).toEqual(new Set(['10000000']))
})

test('a large swap is quoted at the cheaper speed, and at the faster one once that is chosen', async () => {
  const page = await visit()
  const limits: unknown[] = []
  await page.route('**/swap/quote', async (route) => {
    const { maxEtaSeconds } = route.request().postDataJSON()
    limits.push(maxEtaSeconds)
    const response = await route.fetch()
    const quote = await response.json()
    const speedOf = (speed: string, etaSeconds: number, outputAmount: string) => ({
      ...{ speed, etaSeconds, outputAmount, minOutput: outputAmount },
    })
    const premium = { riskPremium: '5000', riskPremiumUsd: '0.01' }
    const less = String((BigInt(quote.output) * 999n) / 1_000n)
    const speeds = [speedOf('final', 2_400, quote.output), { ...speedOf('fast', 8, less), ...premium }]
    const speed = maxEtaSeconds === undefined ? 'final' : 'fast'
    await route.fulfill({ response, json: { ...quote, speed, speeds } })
  })
  await order(page, dollars)
  const chosen = (name: RegExp) => page.getByRole('button', { name, pressed: true }).waitFor()
  await chosen(/^9\.\d+ USDC in about 40 min$/)
  await expectText(page, /waits until alpha can no longer undo your payment.*takes 0\.005 USDC \(\$0\.01\)/)
  const flaws = await findFlaws(page)

  await page.getByRole('button', { name: 'in about 8 s' }).click()
  await chosen(/^9\.\d+ USDC in about 8 s$/)
  await page.getByLabel('Amount to pay').fill('11')
  await chosen(/^10\.\d+ USDC in about 40 min$/)

  expect(flaws).toEqual([])
  expect(limits.filter((each) => each !== undefined)).toContain(1_204)
  expect(limits.at(-1)).toBeUndefined()
})

test('a review that fails returns to the order with the reason', async () => {
  expectErrors(/422/)
  const page = await visit()
  await order(page, dollars)
  await page.route('**/swap/delegation*', (route) => {
    const body = { code: 'UNSUPPORTED_DELEGATION', message: 'This wallet is taken.', requestId: 'r' }
    const rest = { retryable: false, recovery: { action: 'USE_OTHER_WALLET' } }
    return route.fulfill({ status: 422, json: { ...body, ...rest } })
  })
  await review(page).click()

  await page.getByRole('alert').getByText('This wallet is taken.').waitFor()
  await expect.poll(() => queryOf(page)).toEqual({ from: 'alpha:USDC', to: 'beta:USDC', amount: '10' })
  await page.getByRole('alert').getByText('This wallet is taken.').waitFor()
})

test('Enter in a field goes on as the button does, and only where that can be pressed', async () => {
  const page = await visit()
  await page.goto('/app/swap?from=alpha:USDC&to=beta:USDC&amount=')
  await page.getByLabel('Amount to pay').press('Enter')
  await page.getByRole('button', { name: 'Enter an amount.', disabled: true }).waitFor()

  await order(page, dollars)
  await page.getByText('Slippage: automatic').click()
  await page.getByLabel('Own slippage in percent').fill('0.4')
  await review(page).waitFor()
  await page.getByLabel('Own slippage in percent').press('Enter')
  await expectText(page, 'Allow this wallet to swap?')
  await expectFocus(page, /^Allow this wallet to swap\?$/)
})

test('turning the swap round pays what was to be received', async () => {
  const page = await visit()
  await order(page, { from: 'alpha', pay: 'USDC', to: 'beta', receive: 'ETH', amount: '10' })
  const received = await page.getByLabel('Amount to receive').textContent()
  await page.getByRole('button', { name: 'Turn the swap round' }).click()

  const { amount } = await orderOf(page)
  expect(Number(received)).toBeGreaterThan(0.003)
  expect(amount.startsWith(received ?? '?')).toBe(true)
  expect(await page.getByRole('button', { name: 'You pay: token' }).textContent()).toMatch(/ETH$/)
})

test('another recipient is on the order, also after a reload, and can be taken back', async () => {
  const page = await visit()
  await order(page, dollars)
  await page.locator('details.wallet summary').last().click()
  await page.getByLabel('Send it to another address').fill(OTHER)
  await page.locator('details.wallet summary').last().click()
  await expectText(page, 'Another address than your wallet is paid:')
  await page.reload()
  await page.getByRole('status').getByText(OTHER).waitFor()
  expect(await findFlaws(page)).toEqual([])
  await page.setViewportSize({ width: 320, height: 640 })
  expect(await findFlaws(page)).toEqual([])

  await review(page).click()
  await page.getByRole('button', { name: 'Sign the authorization' }).click()
  await expectText(page, 'Guaranteed minimum')
  expect(await rowOf(page, 'Paid to')).toContain('0x0000…00aa')
  await page.goBack()
  await page.getByRole('button', { name: 'Pay my wallet instead' }).click()
  await review(page).waitFor()
  expect(await page.getByText(OTHER).count()).toBe(0)
})

test('no link names a recipient', async () => {
  const page = await visit()
  await page.goto(`/app/swap?from=alpha:USDC&to=beta:USDC&amount=10&recipient=${OTHER}`)
  await expectText(page, /^1 USDC = /)

  expect(await page.getByText(OTHER).count()).toBe(0)
})

test('an address of another family of chains is called that, and asks for no price', async () => {
  const page = await visit()
  await page.goto('/app/swap?from=alpha:USDC&to=solana:SOL&amount=10')
  await page.locator('details.wallet summary').last().click()
  const field = page.getByLabel('Send it to another address')
  await field.fill(OTHER)
  const words = 'The recipient is an EVM address: solana needs a Solana address.'
  await page.getByRole('button', { name: words, disabled: true }).waitFor()

  await page.goto('/app/swap?from=alpha:USDC&to=beta:USDC&amount=10')
  await page.locator('details.wallet summary').last().click()
  await field.fill(SOLANA)
  const reverse = 'The recipient is a Solana address: beta needs an EVM address.'
  await page.getByRole('button', { name: reverse, disabled: true }).waitFor()
  await field.fill('vitalik.eth')
  await page.getByRole('button', { name: 'The recipient is no address on beta.', disabled: true }).waitFor()
})

test('an amount that is too small is said once, in tokens', async () => {
  expectErrors(/422/)
  const page = await visit()
  await page.goto('/app/swap?from=alpha:USDC&to=beta:USDC&amount=0.0001')
  await expectText(page, /Swap at least [\d.]+ USDC\./)

  const text = (await page.getByRole('alert').textContent()) ?? ''
  expect(text.match(/at least/g)).toHaveLength(1)
  expect(text).not.toMatch(/\(\d+\)/)
})

test('nobody is told to try again where that cannot help', async () => {
  expectErrors(/422/)
  const page = await visit()
  await page.route('**/swap/quote', (route) => {
    const body = { code: 'UNSUPPORTED_TOKEN', message: 'This token is not swapped.', requestId: 'r' }
    const rest = { retryable: false, recovery: { action: 'CHANGE_ROUTE' } }
    return route.fulfill({ status: 422, json: { ...body, ...rest } })
  })
  await page.goto('/app/swap?from=alpha:USDC&to=beta:USDC&amount=10')

  await expectText(page, 'This token is not swapped.')
  expect(await page.getByRole('alert').textContent()).not.toMatch(/again/i)
})

test('where a chain has an explorer, each transaction links to it', async () => {
  const page = await visit()
  await page.route('**/app/network.json', async (route) => {
    const response = await route.fetch()
    const settings = (await response.json()) as object
    const txUrls = { [alpha.chainId]: 'https://scan.example/tx/{hash}' }
    await route.fulfill({ response, json: { ...settings, txUrls } })
  })
  const hash = `0x${'ab'.repeat(32)}`
  const back = { token: alpha.token('USDC'), amount: '1000000', txHash: hash }
  const deposit = { address: OTHER, txHash: hash, received: '1000000', returned: [back] }
  await page.route('**/swap/status/*/events', async (route) => {
    const response = await route.fetch()
    const withDeposit = (_line: string, swap: string) =>
      `data: ${JSON.stringify({ ...(JSON.parse(swap) as object), deposit })}`
    await route.fulfill({ response, body: (await response.text()).replace(/^data: (.+)$/gm, withDeposit) })
  })
  const wallet = await world.walletWith(alpha, 'USDC', 10_000_000n)
  const ordered = { from: alpha, sell: 'USDC', to: world.beta, buy: 'USDC', amount: 10_000_000n }
  const { swapId } = await submitSwap(world, wallet, ordered)
  await outcomeOf(world, swapId)
  await page.goto(`/app/explore?swap=${swapId}`)
  await expectText(page, 'Deposited by')

  const links = page.locator(`a[href="https://scan.example/tx/${hash}"]`)
  expect(await links.count()).toBe(2)
  expect(await page.locator('a[href^="https://scan.example/tx/0x"]').count()).toBeGreaterThan(2)
})

test('a link to a token that is not served says so, and shows no order in its place unsaid', async () => {
  const page = await visit()
  await page.goto('/app/swap?from=base:DAI&to=solana:SOL&amount=10')
  await expectText(page, 'This service does not swap base:DAI.')

  await page.getByLabel('Amount to pay').fill('11')
  expect(await page.getByText('does not swap').count()).toBe(0)
})
