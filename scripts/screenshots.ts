import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startNetwork } from '@geoswap/devnet'
import { type Browser, chromium, type Page } from 'playwright-core'
import { CHROMIUM_FLAGS, findChromium } from './chromium.ts'

const IMAGES = fileURLToPath(new URL('../docs/images', import.meta.url))
const DESK = { width: 1120, height: 680 }
const PHONE = { width: 390, height: 844 }

/** Takes the pictures of the documentation from a network started for them. */
async function takeScreenshots(): Promise<void> {
  const executablePath = findChromium()
  if (!executablePath) throw new Error('There is no Chromium: CHROMIUM=/path/to/chromium npm run screenshots')
  await mkdir(IMAGES, { recursive: true })
  const { PATH = '', HOME = '' } = process.env
  const network = await startNetwork({ env: { PATH, HOME }, web: true })
  const browser = await chromium.launch({ executablePath, args: CHROMIUM_FLAGS })
  try {
    await tellStory(browser, network.local)
  } finally {
    await browser.close()
    await network.stop()
  }
}

type Local = Awaited<ReturnType<typeof startNetwork>>['local']

async function tellStory(browser: Browser, { apiUrl: baseURL, chains, operatorUrl }: Local): Promise<void> {
  const beta = chains.find(({ name }) => name === 'beta')?.rpcUrl ?? ''
  const light = await browser.newContext({ baseURL, viewport: DESK, colorScheme: 'light' })
  const page = await light.newPage()
  await page.goto('/app/swap')
  await page.getByText(/^1 USDC = /).waitFor()
  await pick(page, 'You receive on chain', 'beta')
  await pick(page, 'You receive: token', 'ETH')
  await page.getByLabel('Amount to pay').fill('250')
  await page.getByRole('button', { name: 'Get test USDC' }).click()
  await page.getByText('Balance 1,000 USDC').waitFor()
  await page.getByText(/^1 USDC = /).waitFor()
  await page.locator('.quote:not(.stale)').waitFor()
  await shoot(page, 'swap')

  await page.getByRole('button', { name: 'Review the swap' }).click()
  await page.getByRole('button', { name: 'Sign the authorization' }).click()
  await page.getByText('Checked in this browser').waitFor()
  await shoot(page, 'review')

  await setMining(beta, 0)
  await page.getByRole('button', { name: 'Sign and swap' }).click()
  await page.getByText('The output is on its way to the recipient.').waitFor()
  await shoot(page, 'progress')
  await setMining(beta, 1_000)
  await page.getByText(/^Done\. /).waitFor()
  await page.getByRole('link', { name: 'Details' }).click()
  await page.getByText('The recipient has the output.').waitFor()
  await shoot(page, 'details')

  await page.getByRole('link', { name: 'Explore' }).click()
  await page.locator('tbody tr').first().waitFor()
  await shoot(page, 'history')
  await page.setViewportSize({ width: DESK.width, height: 1_000 })
  await page.goto(`${operatorUrl}/app/operate`)
  await page.getByLabel('Last').selectOption('1')
  await page.getByRole('img', { name: /^Volume: / }).waitFor()
  await shoot(page, 'operate')
  await shootDarkPhone(browser, baseURL)
}

async function pick(page: Page, label: string, name: string): Promise<void> {
  await page.getByRole('button', { name: label }).click()
  await page.getByRole('combobox').fill(name)
  await page.keyboard.press('Enter')
}

/** A halted chain leaves time for a picture. */
async function setMining(rpcUrl: string, everyMs: number): Promise<void> {
  const call = { jsonrpc: '2.0', id: 1, method: 'evm_setIntervalMining', params: [everyMs] }
  await fetch(rpcUrl, { method: 'POST', body: JSON.stringify(call) })
}

/** The same page on a small, dark screen. */
async function shootDarkPhone(browser: Browser, baseURL: string): Promise<void> {
  const dark = await browser.newContext({ baseURL, viewport: PHONE, colorScheme: 'dark' })
  const page = await dark.newPage()
  await page.goto('/app/swap')
  await page.getByText(/^1 USDC = /).waitFor()
  await shoot(page, 'phone')
}

async function shoot(page: Page, name: string): Promise<void> {
  // A moving coin would be at a different position each time.
  await page.screenshot({ path: join(IMAGES, `${name}.png`), animations: 'disabled', caret: 'hide' })
  console.log(`docs/images/${name}.png`)
}

await takeScreenshots()
