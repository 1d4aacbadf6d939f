import { expect, inject, test } from 'vitest'
import { findFlaws } from './axe.ts'
import { EXTREME_LOOKS, useBrowser } from './browser.ts'

const { apiUrl, apiKey } = inject('local')
const { visit } = useBrowser()

test('the API reference loads nothing else', async () => {
  const page = await visit()
  const scripts: string[] = []
  page.on('request', (request) => {
    if (request.resourceType() !== 'document') scripts.push(request.url())
  })
  await page.goto('/docs/')
  await page.getByRole('link', { name: 'Price a swap' }).click()

  await page.getByRole('heading', { name: 'Price a swap' }).waitFor()
  expect(scripts).toEqual([])
  expect(await page.locator('html').getAttribute('lang')).toBe('en')
  expect(await page.locator('body').evaluate((body) => getComputedStyle(body).maxWidth)).toBe('1024px')
})

test.each(EXTREME_LOOKS)('at $size.width px, $theme: axe finds nothing in the reference', async (look) => {
  const page = await visit(look)
  await page.goto('/docs/')

  expect(await findFlaws(page)).toEqual([])
})

test('an example request is copied by its button, and runs in a shell', async () => {
  const page = await visit()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto('/docs/')
  await page
    .locator('section[aria-labelledby=chains]')
    .getByRole('button', { name: 'Copy the request' })
    .click()
  await page.getByRole('button', { name: 'Copied the request' }).waitFor()

  const command = await page.evaluate(() => navigator.clipboard.readText())
  const env = { GEOSWAP_URL: apiUrl, GEOSWAP_API_KEY: apiKey }
  expect(await answerOf(command, env)).toHaveProperty('chains')
})

/** The answer of the service to the call of a command, made without curl. */
async function answerOf(command: string, env: Readonly<Record<string, string>>): Promise<unknown> {
  const filled = command.replace(/\$(\w+)/g, (_match, name: string) => env[name] ?? '')
  const [, url = ''] = /^curl "([^"]*)"/.exec(filled) ?? []
  const [, name = '', value = ''] = /-H "([\w-]+): ([^"]*)"/.exec(filled) ?? []
  return (await fetch(url, { headers: { [name]: value } })).json()
}
