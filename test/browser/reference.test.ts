import { expect, inject, test } from 'vitest'
import { useBrowser } from './browser.ts'

const { apiKey } = inject('local')
const { visit } = useBrowser()

test('a call tried in the API reference is answered, and its key is kept nowhere', async () => {
  const page = await visit()
  await page.goto('/docs/')
  await page.getByRole('textbox').and(page.locator('input')).first().fill(apiKey)
  await page.getByRole('button', { name: /Test Request.*\/swap\/chains/ }).click()

  const [reply] = await Promise.all([
    page.waitForResponse('**/swap/chains'),
    page.getByRole('button', { name: /^Send Request/ }).dispatchEvent('click'),
  ])

  expect(reply.status()).toBe(200)
  await page.getByRole('dialog').getByText('200 OK').waitFor()
  expect(
    await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }])),
  ).not.toContain(apiKey)
})
