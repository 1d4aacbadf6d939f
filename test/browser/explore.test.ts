import { beforeAll, expect, inject, test } from 'vitest'
import { createWorld, outcomeOf, stageOf, submitSwap } from '../world.ts'
import { useBrowser } from './browser.ts'
import { expectText, order, rowOf, sign, swapIdOf } from './steps.ts'

const world = createWorld(inject('local'))
const pids = inject('pids')
const { alpha, beta } = world
const { visit, expectErrors } = useBrowser()
const USDC = 1_000_000n
const ordered = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: 10n * USDC }

let settled: { wallet: { address: string }; swapId: string; originTxHash: string }
beforeAll(async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  const { swapId } = await submitSwap(world, wallet, ordered)
  const { originTxHash = '' } = await outcomeOf(world, swapId)
  settled = { wallet, swapId, originTxHash }
})

test('a swap is found by its id, its transaction and its wallet', async () => {
  const { wallet, swapId, originTxHash } = settled
  const page = await visit()
  await page.goto('/app/explore')
  const search = async (text: string) => {
    await page.getByLabel('Swap id, transaction or wallet').fill(text)
    await page.getByRole('button', { name: 'Find' }).click()
  }

  await search(originTxHash)
  await expectText(page, 'The recipient has the output.')
  await expectText(page, /^Delivered/)
  expect(page.url()).toContain(swapId)
  expect(await rowOf(page, 'Paid on alpha')).toBe('10 USDC')
  expect(await rowOf(page, /^Delivered$/)).toMatch(/^9\.\d+ USDC$/)

  await search(wallet.address)
  await page.locator('tbody tr').first().waitFor()
  expect(await page.locator('tbody tr').count()).toBe(1)
  await page.locator('tbody a').click()
  await expectText(page, 'The recipient has the output.')

  await search(swapId)
  await expectText(page, 'The recipient has the output.')
})

test('filters are in the URL, and the back button works', async () => {
  const page = await visit()
  await page.goto(`/app/explore?wallet=${settled.wallet.address}`)
  await page.locator('tbody tr').first().waitFor()

  await page.getByLabel('Status').focus()
  await page.getByLabel('Status').selectOption('failed')
  await expectText(page, 'No swaps here yet.')
  expect(page.url()).toContain('status=failed')
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('SELECT')

  await page.goBack()
  await page.locator('tbody tr').first().waitFor()
})

test('an unknown id and an invalid text are reported', async () => {
  expectErrors(/404/)
  const page = await visit()
  await page.goto('/app/explore?swap=swp_00000000000000000000000000000000')
  await expectText(page, 'Check the id, and that it belongs to this API key.')

  await page.getByLabel('Swap id, transaction or wallet').fill('my swap')
  await page.getByRole('button', { name: 'Find' }).click()
  await expectText(page, /neither a swap id/)
})

test('without the service, the page makes the escrow return the input', async () => {
  const page = await visit()
  await order(page, { from: 'alpha', pay: 'USDC', to: 'beta', receive: 'USDC', amount: '10' })
  await beta.halt()
  await sign(page)
  await expectText(page, 'The output is on its way to the recipient.')
  const swapId = await swapIdOf(page)
  await stageOf(world, swapId, 'delivering')
  const stopped = [...(pids['worker'] ?? []), ...(pids['attester'] ?? [])]
  for (const pid of stopped) process.kill(pid, 'SIGSTOP')
  try {
    await page.getByRole('link', { name: 'Details' }).click()
    await expectText(page, /The escrow holds the input\. Anyone can send it back in/)
    await expectText(page, `npx geoswap refund --operation ${swapId}.json`)
    await alpha.advance(3_600)
    await expectText(page, 'The deadline has passed.')

    await page.getByRole('button', { name: 'Get test ETH' }).click()
    await expectText(page, /Balance [1-9]\d* ETH/)
    await page.getByRole('button', { name: 'Refund now' }).click()
    await expectText(page, 'The escrow has sent the input back.')

    const wallet = await page.evaluate(
      () => JSON.parse(sessionStorage.getItem('geoswap.active-swap') ?? '{}').request.walletAddress,
    )
    expect(await alpha.balanceOf(wallet, 'USDC')).toBe(1_000n * USDC)
  } finally {
    for (const pid of stopped) process.kill(pid, 'SIGCONT')
    await beta.resume()
  }
})
