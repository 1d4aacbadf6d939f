import { expect, test } from 'vitest'
import { findFlaws } from './axe.ts'
import { EXTREME_LOOKS, useBrowser } from './browser.ts'

const { visit } = useBrowser()

test('the API reference works without any script', async () => {
  const page = await visit()
  const scripts: string[] = []
  page.on('request', (request) => {
    if (request.resourceType() !== 'document') scripts.push(request.url())
  })
  await page.goto('/docs/')
  await page.getByRole('link', { name: 'Price a swap' }).click()

  await page.getByRole('heading', { name: 'Price a swap' }).waitFor()
  expect(await page.locator('script').count()).toBe(0)
  expect(scripts).toEqual([])
  expect(await page.locator('html').getAttribute('lang')).toBe('en')
  expect(await page.locator('body').evaluate((body) => getComputedStyle(body).maxWidth)).toBe('1024px')
})

test.each(EXTREME_LOOKS)('at $size.width px, $theme: axe finds nothing in the reference', async (look) => {
  const page = await visit(look)
  await page.goto('/docs/')

  expect(await findFlaws(page)).toEqual([])
})
