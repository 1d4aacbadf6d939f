import type { Locator, Page } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { useBrowser } from './browser.ts'
import { expectFocus, expectText } from './steps.ts'

const { operatorUrl = '' } = inject('local')
const { visit, expectErrors } = useBrowser()

/** Types as people do: after each key, the field holds what was typed up to it, and the focus. */
async function typeInto(field: Locator, text: string): Promise<void> {
  await field.focus()
  for (let end = 1; end <= text.length; end += 1) {
    await field.press(text[end - 1] === ' ' ? 'Space' : (text[end - 1] ?? ''))
    expect(await field.inputValue()).toBe(text.slice(0, end))
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true)
  }
}

test.each(['12', '0.35', '35', '0,35', '3 %', '0.125', '100'])(
  'a slippage of %s stays as it is typed',
  async (text) => {
    expectErrors(/422/)
    const page = await visit()
    await page.goto('/app/swap')
    await page.getByText('Slippage: automatic').click()
    await typeInto(page.getByLabel('Own slippage in percent'), text)

    await expectText(page, `Slippage: ${text.replace(' %', '')} %`)
    await page.getByLabel('Own slippage in percent').waitFor()
  },
)

test('a typed slippage is what is asked for, and a choice replaces it', async () => {
  const page = await visit()
  const asked: unknown[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/swap/quote')) asked.push(request.postDataJSON()?.slippageBps)
  })
  await page.goto('/app/swap')
  await page.getByText('Slippage: automatic').click()
  const field = page.getByLabel('Own slippage in percent')

  await typeInto(field, '0.35')
  await expect.poll(() => asked.at(-1)).toBe(35)
  await page.getByRole('button', { name: '3 %', exact: true }).click()
  await expect.poll(() => asked.at(-1)).toBe(300)
  expect(await field.inputValue()).toBe('3')
  await page.getByRole('button', { name: 'Auto', exact: true }).click()
  expect(await field.inputValue()).toBe('')
  await expectText(page, 'Slippage: automatic')
})

const openOrder = async (page: Page) => {
  await page.goto('/app/swap')
  await page.locator('details.wallet summary').last().click()
}

test.each([
  ['Amount to pay', '1,000.50'],
  ['Amount to pay', '1.000,5'],
  ['Amount to pay', '0.0000001'],
  ['Amount to pay', 'a lot'],
  ['Send it to another address', '0x00000000000000000000000000000000000000aA'],
])('%s keeps %s, key by key', async (label, text) => {
  expectErrors(/4\d\d/)
  const page = await visit()
  await openOrder(page)
  const field = page.getByLabel(label)
  await field.fill('')

  await typeInto(field, text)
})

test('the search of a list keeps what is typed, key by key', async () => {
  const page = await visit()
  await page.goto('/app/swap')
  await page.getByRole('button', { name: 'You pay: token' }).press('Enter')

  await typeInto(page.getByRole('combobox'), 'usdc 0x')
})

test('the search, the days and the operation of Explore keep what is typed, key by key', async () => {
  expectErrors(/404/)
  const page = await visit()
  await page.goto('/app/explore')
  await typeInto(page.getByLabel('Swap id, transaction or wallet'), 'swp_0 0x1')

  for (const label of ['From', 'Until']) {
    const day = page.getByLabel(label, { exact: true })
    await day.focus()
    await page.keyboard.type('11192026', { delay: 20 })
    expect(await day.inputValue()).toBe('2026-11-19')
    await expectFocus(page, new RegExp(`^$|${label}`))
  }
})

test('keys and reasons keep what is typed, key by key', async () => {
  const page = await visit()
  await page.goto(`${operatorUrl}/app/operate`)
  await page.getByRole('heading', { name: 'Operate local' }).waitFor()
  await typeInto(page.getByLabel('Why', { exact: true }), 'a look at it')

  await page.route('**/app/network.json', (route) =>
    route.fulfill({ json: { rpcUrls: {}, txUrls: {}, contracts: {} } }),
  )
  await page.goto('/app/')
  await typeInto(page.getByLabel('Your key'), 'gsk_live x')
})

test('a key that is typed while the order renames its address stays', async () => {
  const page = await visit()
  await page.addInitScript(() => {
    const { replaceState } = history
    let isOver = false
    history.replaceState = (...call) => {
      replaceState.apply(history, call)
      const field = document.querySelector<HTMLInputElement>('input.amount')
      if (isOver || field?.value !== '12') return
      isOver = true
      field.value = '123'
      field.dispatchEvent(new Event('input', { bubbles: true }))
    }
  })
  await page.goto('/app/swap')
  await page.getByLabel('Amount to pay').fill('12')

  await page.waitForURL(/amount=123/)
  expect(await page.getByLabel('Amount to pay').inputValue()).toBe('123')
})
