import type { OperatorOverview } from '@geoswap/wire'
import type { Page } from 'playwright-core'
import { describe, expect, inject, test } from 'vitest'
import { createWorld, outcomeOf, submitSwap, toRequest } from '../world.ts'
import { findFlaws } from './axe.ts'
import { LOOKS, useBrowser } from './browser.ts'
import { expectText } from './steps.ts'

const local = inject('local')
const { operatorUrl = '' } = local
const world = createWorld(local)
const { alpha, beta } = world
const sell = { from: alpha, sell: 'USDC', to: beta, amount: 10_000_000n }
const { visit, expectErrors } = useBrowser()

async function visitDashboard(look?: Parameters<typeof visit>[0]): Promise<Page> {
  const page = await visit(look)
  await page.goto(`${operatorUrl}/app/operate`)
  await page.getByRole('heading', { name: 'Operate local' }).waitFor()
  return page
}

describe('the dashboard', () => {
  test('shows inventory, keys with their balances, prices, the books and ended swaps', async () => {
    const wallet = await world.walletWith(alpha, 'USDC', sell.amount)
    const { swapId } = await submitSwap(world, wallet, { ...sell, buy: 'ETH' })
    await outcomeOf(world, swapId)
    const page = await visitDashboard()

    await page.getByRole('table', { name: 'Inventory' }).getByText('USDC').first().waitFor()
    await page.getByRole('table', { name: 'Relayers and fee payers' }).getByText(/ETH$/).first().waitFor()
    await page.getByRole('table', { name: 'Price sources' }).getByText('$2500').waitFor()
    await page.getByRole('table', { name: 'Books' }).getByText('GEO').first().waitFor()
    await page.getByRole('heading', { name: 'Earned and spent' }).waitFor()
    await page.getByRole('img', { name: /^Swaps that ended: [1-9]/ }).waitFor()
    await page.getByRole('img', { name: /^Settle time: at most [0-9]/ }).waitFor()
    await page.getByText('no drift').waitFor()
    expect(await page.getByText('down', { exact: true }).count()).toBe(0)
  })

  test('stops the quotes of an asset, which callers see, and resumes them', async () => {
    const page = await visitDashboard()
    await page.getByLabel('Asset').selectOption('GEO')
    await page.getByLabel('Why', { exact: true }).fill('a look at its liquidity')
    await page.getByRole('button', { name: 'Pause…' }).click()
    await page.getByRole('button', { name: 'Stop GEO on every chain' }).click()
    await page.getByRole('button', { name: 'Resume GEO on every chain' }).waitFor()

    await expect.poll(() => askQuote('GEO')).toBe('CHAIN_UNAVAILABLE')
    expect(await askQuote('ETH')).toBe('quoted')

    await page.getByRole('button', { name: 'Resume GEO on every chain' }).click()
    await page.getByLabel('Reason for resuming').fill('looked at')
    await page.getByRole('button', { name: 'Quote GEO on every chain again' }).click()
    await expectText(page, 'Everything is quoted.')
    await expect.poll(() => askQuote('GEO')).toBe('quoted')
  })
})

/** The code of a refused quote, or that it was quoted. */
async function askQuote(buy: string): Promise<string> {
  const wallet = { address: '0x00000000000000000000000000000000000000aa' } as const
  const { status, body } = await world.api.quote(toRequest(wallet, { ...sell, buy }))
  return status === 200 ? 'quoted' : String(body.code)
}

test('a wrong operator key is refused with advice, and not stored by the browser', async () => {
  expectErrors(/401/)
  const page = await visit()
  await page.route('**/app/network.json', (route) =>
    route.fulfill({ json: { rpcUrls: {}, txUrls: {}, contracts: {}, operator: {} } }),
  )
  await page.goto(`${operatorUrl}/app/operate`)
  await page.getByLabel('Your operator key').fill('x'.repeat(40))
  await page.getByRole('button', { name: 'Use this key' }).click()

  await expectText(page, 'Enter one of GEOSWAP_OPERATOR_KEYS.')
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain('operator')
})

test('reports that the operator API is gone, keeps the last values, and continues when it is back', async () => {
  expectErrors(/ERR_|Failed to load/)
  const page = await visitDashboard()

  await page.route('**/operate/overview', (route) => route.abort())
  await expectText(page, 'The operator API did not answer.')
  await page.getByRole('table', { name: 'Inventory' }).waitFor()
  await page.unroute('**/operate/overview')

  await page.getByText('The operator API did not answer.').waitFor({ state: 'detached' })
})

test("the callers' listener only says where the dashboard is", async () => {
  const page = await visit()
  await page.goto('/app/operate')

  await expectText(page, "The dashboard is on the operator's own listener, not here.")
})

test.each(LOOKS)(
  'at $size.width px, $theme: axe finds nothing, and nothing scrolls sideways',
  async (look) => {
    const page = await visitDashboard(look)
    await page.getByRole('img', { name: /^Volume: / }).waitFor()

    expect(await findFlaws(page)).toEqual([])
  },
)

test.each([961, 1280])('at %i pixels each table fits into its card', async (width) => {
  const wallet = await world.walletWith(alpha, 'USDC', sell.amount)
  const { swapId } = await submitSwap(world, wallet, { ...sell, buy: 'ETH' })
  await outcomeOf(world, swapId)
  const page = await visitDashboard({ size: { width, height: 800 } })
  await page.getByRole('table', { name: 'Inventory' }).waitFor()
  await page.route('**/operate/overview', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: withEarnings((await response.json()) as OperatorOverview) })
  })
  await page.getByRole('table', { name: 'Earned by route' }).waitFor()

  const excess = await page.locator('.card').evaluateAll((cards) =>
    cards.flatMap((card) => {
      const right =
        card.getBoundingClientRect().right - Number.parseFloat(getComputedStyle(card).paddingRight)
      return [...card.querySelectorAll('table')]
        .filter((table) => table.getBoundingClientRect().right > right + 1)
        .map((table) => `${table.ariaLabel}: ${table.getBoundingClientRect().right - right} px`)
    }),
  )
  expect(excess).toEqual([])
  expect(await findFlaws(page)).toEqual([])
})

/** Ended swaps are counted only every five minutes. */
function withEarnings(overview: OperatorOverview): OperatorOverview {
  const [input, output] = [alpha.token('USDC'), beta.token('USDC')]
  const route = { day: '2026-11-19', originChain: alpha.chainId, inputToken: input }
  const counted = { settled: 12_345, refunded: 12, volumeCents: '1234567890' }
  const usd = { earned: '1234567890', network: '123456789', profit: '1111111101' }
  const routes = [{ ...route, destinationChain: beta.chainId, outputToken: output, ...counted, ...usd }]
  return { ...overview, earnings: { ...overview.earnings, routes } }
}
