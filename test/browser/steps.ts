import type { Page } from 'playwright-core'
import { expect } from 'vitest'

type Ordered = { from: string; pay: string; to: string; receive: string; amount: string }

/** Fills in the form, funds the wallet from the faucet, and waits for the price of this order. */
export async function order(page: Page, { from, pay, to, receive, amount }: Ordered): Promise<void> {
  await page.goto('/app/swap')
  await pick(page, 'You pay on chain', from)
  await pick(page, 'You pay: token', pay)
  await pick(page, 'You receive on chain', to)
  await pick(page, 'You receive: token', receive)
  await page.getByLabel('Amount to pay').fill(amount)
  await page.getByRole('button', { name: `Get test ${pay}` }).click()
  await page.getByText(/^Balance [1-9]/).waitFor()
  await page.locator('.quote[aria-busy=false]').waitFor()
}

/** Chooses from a list with its search field, by the keyboard. */
export async function pick(page: Page, label: string, name: string): Promise<void> {
  await page.getByRole('button', { name: label }).press('Enter')
  await page.getByRole('combobox').fill(name)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: `${label}: ${name}` }).waitFor()
}

/** Reviews and signs the swap, and first the authorization of a new wallet. */
export async function sign(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Review the swap' }).click()
  const authorize = page.getByRole('button', { name: 'Sign the authorization' })
  const agree = page.getByRole('button', { name: 'Sign and swap' })
  await authorize.or(agree).waitFor()
  if (await authorize.isVisible()) await authorize.click()
  await agree.waitFor()
  await expectText(page, 'Checked in this browser')
  await agree.click()
}

export async function expectText(page: Page, text: string | RegExp): Promise<void> {
  await page.getByText(text).first().waitFor()
}

/** Waits until an element with this text or label has the focus. The page itself does not count. */
export async function expectFocus(page: Page, name: RegExp): Promise<void> {
  const hasFocus = ({ source }: { source: string }) => {
    const element = document.activeElement
    if (element === null || element === document.body || element.id === 'main') return false
    const names = [element.textContent, element.getAttribute('aria-label')]
    return names.some((each) => each !== null && new RegExp(source).test(each))
  }
  await page.waitForFunction(hasFocus, { source: name.source })
}

/** The id of the current swap, as the page stores it. */
export async function swapIdOf(page: Page): Promise<string> {
  const href = await page.getByRole('link', { name: 'Details' }).getAttribute('href')
  const swapId = /swap=(swp_\w+)/.exec(href ?? '')?.[1]
  expect(swapId).toBeDefined()
  return swapId ?? ''
}

/** The value of a name in a list of rows. */
export async function rowOf(page: Page, name: string | RegExp): Promise<string> {
  const row = page.locator('dl.rows > div', { has: page.locator('dt', { hasText: name }) })
  return (await row.first().locator('dd').textContent()) ?? ''
}
