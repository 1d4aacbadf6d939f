import { afterEach, expect, inject, test } from 'vitest'
import { createWorld, outcomeOf, stageOf } from '../world.ts'
import { PHONE, useBrowser } from './browser.ts'
import { expectText, order, rowOf, sign, swapIdOf } from './steps.ts'

const world = createWorld(inject('local'))
const { alpha, beta } = world
const { visit, expectErrors } = useBrowser()

afterEach(async () => {
  await Promise.all([alpha.resume(), beta.resume()])
})

test('USDC on alpha becomes SOL on solana, from a wallet without gas', async () => {
  const page = await visit()
  await order(page, { from: 'alpha', pay: 'USDC', to: 'solana', receive: 'SOL', amount: '25' })
  await expectText(page, 'Service fee, 0.125 %')
  expect(await rowOf(page, 'In the worst case')).toMatch(/^0\.1\d+ SOL, or your USDC back$/)

  await sign(page)
  await expectText(page, /^Done\. 0\.1\d+ SOL arrived\.$/)

  const { amounts, status, originTxHash, deliveryTxHash } = await outcomeOf(world, await swapIdOf(page))
  expect([status, amounts.input]).toEqual(['settled', '25000000'])
  const links = await page
    .locator('.notice .copyable .mono')
    .evaluateAll((all) => all.map((each) => each.getAttribute('title')))
  expect(links).toEqual([originTxHash, deliveryTxHash])
})

test('SOL on solana becomes ETH on alpha, on a phone in the dark', async () => {
  const page = await visit({ size: PHONE, theme: 'dark' })
  await order(page, { from: 'solana', pay: 'SOL', to: 'alpha', receive: 'ETH', amount: '0.5' })

  await page.getByRole('button', { name: 'Review the swap' }).click()
  await expectText(page, 'these terms were read from the bytes of the transaction')
  await page.getByText('Everything that is signed').click()
  await expectText(page, 'delivery.minOutput')
  await page.getByRole('button', { name: 'Sign and swap' }).click()

  await expectText(page, /^Done\. 0\.0\d+ ETH arrived\.$/)
})

test('an undeliverable swap is refunded, with the reason', async () => {
  const page = await visit()
  await order(page, { from: 'alpha', pay: 'USDC', to: 'beta', receive: 'ETH', amount: '10' })
  const held = await beta.balanceOf(beta.contracts.vault, 'ETH')
  await alpha.halt()
  await sign(page)
  // Claims of earlier swaps may wait for the next block as well: this swap's lock must be signed.
  await stageOf(world, await swapIdOf(page), 'locking')
  await alpha.untilPending()

  await beta.client.setBalance({ address: beta.contracts.vault, value: 0n })
  await alpha.resume()
  await expectText(
    page,
    '10 USDC is back in the wallet. The service no longer had enough of the token to deliver.',
  )
  await beta.client.setBalance({ address: beta.contracts.vault, value: held })

  expect(await rowOf(page, 'Refunded by')).toMatch(/^0x/)
})

test('a reload in the middle of a swap continues it', async () => {
  const page = await visit()
  await order(page, { from: 'alpha', pay: 'USDC', to: 'beta', receive: 'USDC', amount: '10' })
  await beta.halt()
  await sign(page)
  await expectText(page, 'The output is on its way to the recipient.')

  await page.reload()
  await expectText(page, 'The output is on its way to the recipient.')
  await beta.resume()

  await expectText(page, /^Done\. 9\.\d+ USDC arrived\.$/)
})

test('a submission that was cut off is sent again after a reload, and creates one swap', async () => {
  expectErrors(/Failed to load resource/)
  const page = await visit()
  await order(page, { from: 'alpha', pay: 'USDC', to: 'beta', receive: 'USDC', amount: '10' })
  // The submission arrives, and its answer is lost.
  await page.route('**/swap/submit', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await sign(page)
  await expectText(page, 'The service cannot be reached.')
  await page.unrouteAll({ behavior: 'ignoreErrors' })

  await page.reload()
  await expectText(page, /^Done\. 9\.\d+ USDC arrived\.$/)

  const wallet = await page.evaluate(
    () => JSON.parse(sessionStorage.getItem('geoswap.active-swap') ?? '{}').request.walletAddress,
  )
  const { body } = await world.api.call<{ swaps: unknown[] }>('GET', `/swap/history?wallet=${wallet}`)
  expect(body.swaps).toHaveLength(1)
})

test('going back signs nothing', async () => {
  const page = await visit()
  await order(page, { from: 'alpha', pay: 'USDC', to: 'beta', receive: 'USDC', amount: '10' })
  await page.getByRole('button', { name: 'Review the swap' }).click()
  await expectText(page, 'Allow this wallet to swap?')

  await page.getByRole('button', { name: 'Back, sign nothing' }).click()

  await page.getByRole('button', { name: 'Review the swap' }).waitFor()
  expect(await page.getByLabel('Amount to pay').inputValue()).toBe('10')
  expect(await page.evaluate(() => sessionStorage.getItem('geoswap.active-swap'))).toBeNull()
})

test('an amount that cannot be swapped has advice', async () => {
  expectErrors(/422/)
  const page = await visit()
  await page.goto('/app/swap')
  const amount = page.getByLabel('Amount to pay')

  await amount.fill('0.0001')
  await expectText(page, /Swap at least [\d.]+ USDC\./)
  await amount.fill('1000000000')
  await expectText(page, /Swap at most [\d,.]+ USDC\./)
  await amount.fill('ten')
  await expectText(page, /Write the amount in digits/)
})
