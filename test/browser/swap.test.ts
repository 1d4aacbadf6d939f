import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterEach, expect, inject, test } from 'vitest'
import { createWorld, outcomeOf, quoteOnceSettled, stageOf, toRequest } from '../world.ts'
import { PHONE, useBrowser } from './browser.ts'
import { expectFocus, expectText, order, pick, rowOf, sign, swapIdOf } from './steps.ts'

const world = createWorld(inject('local'))
const { alpha, beta } = world
const { visit, expectErrors } = useBrowser()

afterEach(async () => {
  await Promise.all([alpha.resume(), beta.resume()])
})

test('USDC on alpha becomes SOL on solana, from a wallet without gas', async () => {
  const page = await visit()
  await order(page, { from: 'alpha', pay: 'USDC', to: 'solana', receive: 'SOL', amount: '25' })
  await expectText(page, 'Service fee, 0.08 %')
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
  const anyone = { address: privateKeyToAddress(generatePrivateKey()) }
  const same = { from: alpha, sell: 'USDC', amount: 10_000_000n, to: beta, buy: 'ETH' }
  await quoteOnceSettled(world.api, toRequest(anyone, same))

  expect(await rowOf(page, 'Refunded by')).toMatch(/^0x/)
})

test('a reload in the middle of a swap continues it', async () => {
  const page = await visit()
  await order(page, { from: 'alpha', pay: 'USDC', to: 'beta', receive: 'USDC', amount: '10' })
  await beta.halt()
  await sign(page)
  await expectText(page, 'The output is on its way to the recipient.')

  await page.getByRole('link', { name: 'Open' }).click()
  await expectText(page, 'One swap is under way.')
  await expectText(page, /^10 USDC on alpha to 9\.\d+ USDC on beta$/)
  await page.getByRole('link', { name: 'Balances' }).click()
  await expectText(page, '990 USDC')
  await page.goto('/app/swap')
  await expectText(page, 'The output is on its way to the recipient.')
  await beta.resume()

  await expectText(page, /^Done\. 9\.\d+ USDC arrived\.$/)
})

test('the back button after a signature shows the running swap, and another order has the way to it', async () => {
  const page = await visit()
  await order(page, { from: 'alpha', pay: 'USDC', to: 'beta', receive: 'USDC', amount: '10' })
  await beta.halt()
  await sign(page)
  await expectText(page, 'The output is on its way to the recipient.')

  await page.goBack()
  await page.waitForURL(/from=alpha:USDC/)
  await expectText(page, 'The output is on its way to the recipient.')
  expect(await page.getByLabel('Amount to pay').count()).toBe(0)
  await page.reload()
  await expectText(page, 'The output is on its way to the recipient.')

  await page.goto('/app/swap?from=alpha:USDC&to=beta:USDC&amount=11')
  await expectText(page, 'This tab has a swap of 10 USDC on alpha.')
  await page.getByRole('link', { name: 'Show the swap' }).click()
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

test('an amount with two meanings is not read until one is chosen', async () => {
  const page = await visit({ locale: 'de-DE' })
  await page.goto('/app/swap')
  const amount = page.getByLabel('Amount to pay')
  await amount.fill('1,000')
  await page.getByRole('button', { name: '1000 USDC' }).click()

  expect(await amount.inputValue()).toBe('1000')
  await expectFocus(page, /^Amount to pay$/)
  await expectText(page, 'about $1,000.00')
  await amount.fill('1.000,50')
  await expectText(page, 'about $1,000.50')
})

test('a balance that does not suffice is said before any signature', async () => {
  const page = await visit()
  await page.goto('/app/swap')

  await page
    .getByRole('button', { name: 'Not enough USDC: the wallet has 0 USDC.', disabled: true })
    .waitFor()
  await page.getByRole('button', { name: 'Get test USDC' }).click()
  await page.getByRole('button', { name: 'Review the swap', disabled: false }).waitFor()
})

test('a loss above 5 % is signed only after a deliberate confirmation', async () => {
  const page = await visit()
  await page.route('**/swap/quote', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), outputUsd: '9.30' } })
  })
  await order(page, { from: 'alpha', pay: 'USDC', to: 'beta', receive: 'ETH', amount: '10' })
  await page.getByRole('button', { name: 'Review the swap' }).click()
  await page.getByRole('button', { name: 'Sign the authorization' }).click()
  await expectText(page, 'You lose 7.00 % of the value.')

  await page.getByRole('button', { name: 'Sign and swap', disabled: true }).click({ force: true })
  await expectText(page, 'Sign this swap?')
  await page.getByLabel('I accept to lose 7.00 %').check()
  await page.getByRole('button', { name: 'Sign and swap', disabled: false }).click()

  await expectText(page, /^Done\. 0\.00\d+ ETH arrived\.$/)
})

test('a false refusal gets no second signature, also with another slippage and after a reload', async () => {
  expectErrors(/410/)
  const page = await visit()
  const handed: string[] = []
  await page.route('**/swap/submit', (route) => {
    handed.push(route.request().postData() ?? '')
    const body = { code: 'OPERATION_EXPIRED', message: 'Too late.', requestId: 'r', retryable: false }
    return route.fulfill({ status: 410, json: { ...body, recovery: { action: 'REQUOTE' } } })
  })
  await order(page, { from: 'alpha', pay: 'USDC', to: 'beta', receive: 'USDC', amount: '10' })
  await sign(page)
  await expectText(page, 'The service refused the swap')
  await expectText(page, /Your signature can be used until/)
  await page.getByRole('button', { name: 'Start again' }).click()

  await page.getByRole('button', { name: 'Review the swap' }).click()
  await expectText(page, /An earlier signature for this swap can be used until/)
  await page.reload()
  await page.getByText('Slippage: automatic').click()
  const asked = page.waitForRequest((request) => request.postDataJSON()?.slippageBps === 100)
  await page.getByRole('button', { name: '1 %', exact: true }).click()
  await asked
  await page.getByRole('button', { name: 'Review the swap' }).click()
  await expectText(page, /An earlier signature for this swap can be used until/)
  expect(new Set(handed).size).toBe(1)
})

test('one of fifty tokens is found by its name or address, by the keyboard', async () => {
  const page = await visit()
  const many = Array.from({ length: 50 }, (_, index) => ({
    ...{ chainId: alpha.chainId, symbol: `TOK${index}`, decimals: 6, asset: `TOK${index}` },
    ...{ address: `0x${(index + 4096).toString(16).padStart(40, '0')}`, native: false },
    ...{ input: index !== 7, output: true },
  }))
  await page.route('**/swap/tokens*', async (route) => {
    const response = await route.fetch()
    const { tokens } = (await response.json()) as { tokens: object[] }
    await route.fulfill({ response, json: { tokens: [...tokens, ...many] } })
  })
  await page.route('**/swap/quote', (route) => route.abort())
  expectErrors(/Failed to load/)
  await page.goto('/app/swap')
  await pick(page, 'You pay: token', 'TOK37')
  await expectFocus(page, /token: TOK37$/)

  await page.keyboard.press('Enter')
  await page.getByRole('combobox').fill('0x000000000000000000000000000000000000100')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'You pay: token: TOK1' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('combobox').fill('tok7')
  await expectText(page, 'not available now')
})
