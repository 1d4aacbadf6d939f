import type { Page } from 'playwright-core'
import { describe, expect, inject, test } from 'vitest'
import { createWorld, outcomeOf, submitSwap, until } from '../world.ts'
import { findFlaws } from './axe.ts'
import { LOOKS, PHONE, useBrowser } from './browser.ts'
import { expectFocus, expectText } from './steps.ts'

declare global {
  interface Window {
    shifts: number[]
  }
}

const local = inject('local')
const world = createWorld(local)
const { alpha, beta } = world
const { visit, expectErrors } = useBrowser()

let settled: Promise<string> | undefined
/** A swap that has ended, the same for all tests. */
const getSettled = () => {
  settled ??= settle()
  return settled
}

async function settle(): Promise<string> {
  const wallet = await world.walletWith(alpha, 'USDC', 10_000_000n)
  const ordered = { from: alpha, sell: 'USDC', to: beta, buy: 'ETH', amount: 10_000_000n }
  const { swapId } = await submitSwap(world, wallet, ordered)
  await outcomeOf(world, swapId)
  return swapId
}

/** The page as an operator's customers see it: without a key. */
async function visitAsStranger(): Promise<Page> {
  const page = await visit()
  await page.route('**/app/network.json', (route) =>
    route.fulfill({ json: { rpcUrls: {}, txUrls: {}, contracts: {} } }),
  )
  await page.goto('/app/')
  return page
}

const enterKey = async (page: Page, key: string) => {
  await page.getByLabel('Your key').fill(key)
  await page.getByRole('button', { name: 'Use this key' }).click()
}

describe('the API key', () => {
  test('that is wrong is refused with advice, and the right one opens the page', async () => {
    expectErrors(/401/)
    const page = await visitAsStranger()

    await enterKey(page, 'gsk_live_wrong')
    await expectText(page, 'Enter the key again, or ask the operator of the service for a new one.')
    await enterKey(page, local.apiKey)

    await expectText(page, 'Connect a wallet for alpha')
  })

  test("stays in the tab, and is neither in the URL nor in the browser's storage", async () => {
    const page = await visitAsStranger()
    await enterKey(page, local.apiKey)
    await expectText(page, 'Connect a wallet for alpha')

    await page.reload()
    await expectText(page, 'Connect a wallet for alpha')

    expect(page.url()).not.toContain('gsk_')
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage }) + document.cookie)).not.toContain(
      'gsk_',
    )
    await page.getByRole('button', { name: 'Forget key' }).click()
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain('gsk_')
  })

  test('that an earlier version stored in the browser is removed and not used', async () => {
    const page = await visitAsStranger()
    await page.evaluate((key) => localStorage.setItem('geoswap.api-key', JSON.stringify(key)), local.apiKey)
    await page.reload()

    await page.getByLabel('Your key').waitFor()
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain('gsk_')
  })
})

test('the page reports that the API is gone, and continues when it is back', async () => {
  expectErrors(/ERR_|Failed to load/)
  const page = await visit()
  await page.goto('/app/swap')
  await page.getByRole('button', { name: 'Get test USDC' }).click()
  await expectText(page, /^Balance [1-9]/)
  await expectText(page, /^1 USDC = /)

  for (const pid of inject('pids')['api'] ?? []) process.kill(pid, 'SIGKILL')
  await page.getByLabel('Amount to pay').fill('11')
  await expectText(page, 'The service cannot be reached.')
  await expectFocus(page, /^Amount to pay$/)
  await untilReady()

  await page.getByText('The service cannot be reached.').waitFor({ state: 'detached' })
  await expectText(page, /^1 USDC = /)
  await page.getByRole('button', { name: 'Review the swap' }).click({ trial: true })
})

/** A new API process, on a machine that is busy with other tests too. */
const untilReady = () =>
  until(
    () =>
      fetch(`${local.apiUrl}/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    90_000,
  )

test('an unknown address is a page with a way back', async () => {
  expectErrors(/404/)
  const page = await visit()
  for (const path of ['/app/nowhere', '/app/a/b/c']) {
    await page.goto(path)
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor()
  }
  await page.getByRole('link', { name: 'Go to the swap' }).click()

  await expectText(page, /^1 USDC = /)
})

test('a browser without a wallet learns what to install', async () => {
  const page = await visitAsStranger()
  await enterKey(page, local.apiKey)
  // In the head of the page, and in place of the review.
  const connect = page.getByRole('button', { name: 'Connect wallet' })
  await connect.first().waitFor()
  expect(await connect.count()).toBe(2)
  await connect.last().click()

  await expectText(page, 'This browser has no EVM wallet. Install one that supports EIP-6963')
  await page.keyboard.press('Escape')
  await expectFocus(page, /^Connect wallet$/)
})

describe('accessibility', () => {
  test.each(LOOKS)(
    'at $size.width px, $theme: axe finds nothing, and nothing scrolls sideways',
    async (look) => {
      expectErrors(/404/)
      const page = await visit(look)
      const check = async (name: string) =>
        expect((await findFlaws(page)).map((flaw) => `${name}: ${flaw}`)).toEqual([])
      const views: [string, string | RegExp][] = [
        ['/app/swap', /^1 USDC = /],
        ['/app/open', 'No swap of your wallets is under way.'],
        ['/app/balances', 'Nothing here.'],
        [`/app/explore?swap=${await getSettled()}`, 'The recipient has the output.'],
        ['/app/explore', /ETH on beta$/],
        ['/app/nowhere/at/all', 'There is nothing here'],
      ]
      for (const [path, text] of views) {
        await page.goto(path)
        await expectText(page, text)
        await check(path)
      }
    },
  )

  test.each(LOOKS)('at $size.width px, $theme: so do lists, dialogs and questions', async (look) => {
    const page = await visit(look)
    const check = async (name: string) =>
      expect((await findFlaws(page)).map((flaw) => `${name}: ${flaw}`)).toEqual([])
    await page.goto('/app/swap')
    await page.getByRole('button', { name: 'You pay: token' }).click()
    await check('list of tokens')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Wallets' }).click()
    await check('wallets')
    await page.keyboard.press('Escape')
    await page.getByText('Slippage: automatic').click()
    await page.getByLabel('Amount to pay').fill('1,000')
    await check('an open form with an error')
    await page.getByLabel('Amount to pay').fill('10')
    await page.getByRole('button', { name: 'Get test USDC' }).click()
    await expectText(page, /^Balance [1-9]/)
    // A key press has no effect before there is a quote.
    await page.getByRole('button', { name: 'Review the swap', disabled: false }).press('Enter')
    await expectText(page, 'Allow this wallet to swap?')
    await check('authorization')
    await expectFocus(page, /^Allow this wallet to swap\?$/)
    await page.keyboard.press('Tab')
    await expectFocus(page, /Copy/)
    await page.getByRole('button', { name: 'Sign the authorization' }).click()
    await expectText(page, 'Sign this swap?')
    await check('operation')
  })

  test('filters are folded on a phone only', async () => {
    const phone = await visit({ size: PHONE })
    await phone.goto('/app/explore')
    expect(await phone.getByLabel('Status').isVisible()).toBe(false)
    await phone.getByText('Filters').click()
    await phone.getByLabel('Status').selectOption('failed')
    await expectText(phone, 'Filters: 1 in use')

    const desk = await visit()
    await desk.goto('/app/explore')
    await desk.getByLabel('Status').waitFor()
  })

  test('nothing moves while the page loads', async () => {
    const page = await visit()
    await page.addInitScript(() => {
      const shifts: number[] = []
      Object.assign(window, { shifts })
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries())
          shifts.push((entry as PerformanceEntry & { value: number }).value)
      }).observe({ type: 'layout-shift', buffered: true })
    })
    await page.goto('/app/swap')
    await expectText(page, /^1 USDC = /)
    await expectText(page, /^Balance \d/)

    const sum = await page.evaluate(() => window.shifts.reduce((all, each) => all + each, 0))
    // Web Vitals rates 0.1 as good.
    expect(sum).toBeLessThan(0.02)
  })
})
