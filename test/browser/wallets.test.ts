import { fromKitSigner, intentOf } from '@geoswap/sdk'
import { generateKeyPairSigner } from '@solana/kit'
import type { Page } from 'playwright-core'
import type { Address, Hex, TypedDataDefinition } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, inject, test } from 'vitest'

import { createWorld, outcomeOf, submitSwap } from '../world.ts'
import { findFlaws } from './axe.ts'
import { useBrowser } from './browser.ts'
import { expectText, pick, rowOf, sign } from './steps.ts'

const world = createWorld(inject('local'))
const { alpha, beta } = world
const { visit } = useBrowser()
const USDC = 1_000_000n

declare global {
  interface Window {
    askWallet(method: string, params: unknown): Promise<unknown>
    signBytes(bytes: number[]): Promise<number[]>
  }
}

const hexOf = (chainId: number) => `0x${chainId.toString(16)}`

/**
 * A wallet in the browser that announces itself by EIP-6963 and behaves like MetaMask: it signs typed data of its
 * current chain, switches chains when asked, and signs no EIP-7702 authorization for a page.
 */
async function installEvmWallet(page: Page, privateKey: Hex): Promise<string[]> {
  const account = privateKeyToAccount(privateKey)
  const asked: string[] = []
  let current = hexOf(1)
  await page.exposeFunction('askWallet', async (method: string, params: readonly unknown[] = []) => {
    asked.push(method)
    if (method === 'eth_requestAccounts' || method === 'eth_accounts') return [account.address]
    if (method === 'eth_chainId') return current
    if (method === 'wallet_switchEthereumChain') {
      current = (params[0] as { chainId: string }).chainId
      return null
    }
    if (method === 'eth_signTypedData_v4') {
      const typedData = JSON.parse(String(params[1])) as TypedDataDefinition
      if (hexOf(Number(typedData.domain?.chainId)) !== current) throw new Error('This is another chain')
      return account.signTypedData(typedData)
    }
    throw new Error(`The wallet does not do ${method}`)
  })
  await page.addInitScript(() => {
    const ask = window.askWallet
    const provider = {
      request: ({ method, params }: { method: string; params?: unknown }) => ask(method, params),
    }
    const detail = { info: { uuid: '1', name: 'Pocket', rdns: 'example.pocket', icon: '' }, provider }
    const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
    addEventListener('eip6963:requestProvider', announce)
  })
  return asked
}

const connect = async (page: Page, name: string) => {
  await page.getByRole('banner').getByRole('button', { name: 'Wallets' }).click()
  await page.getByRole('dialog').getByRole('button', { name }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

const choose = async (page: Page, name: string) => {
  await page.locator('details.wallet summary').first().click()
  await page.locator('details.wallet').first().getByRole('button', { name }).click()
}

test('a delegated EVM wallet swaps, also after a reload', async () => {
  const privateKey = generatePrivateKey()
  const wallet = privateKeyToAccount(privateKey)
  await world.fund(alpha, wallet.address, 'USDC', 100n * USDC)
  const page = await visit()
  const asked = await installEvmWallet(page, privateKey)
  await page.goto('/app/swap')
  await connect(page, 'Pocket')
  await expectText(page, 'Pocket pays USDC with one signature that the token itself takes (EIP-3009)')

  const ordered = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: 10n * USDC }
  const { swapId } = await submitSwap(world, wallet, ordered)
  await outcomeOf(world, swapId)
  await page.reload()
  await expectText(page, 'Balance 90 USDC')
  expect(asked).toEqual(['eth_requestAccounts', 'eth_accounts'])
  await sign(page)

  await expectText(page, /^Done\. /)
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(80n * USDC)
})

test('a new wallet that signs no EIP-7702 authorization swaps with one signature and at most four clicks', async () => {
  const privateKey = generatePrivateKey()
  const wallet = privateKeyToAccount(privateKey)
  await world.fund(alpha, wallet.address, 'USDC', 10n * USDC)
  const page = await visit()
  const asked = await installEvmWallet(page, privateKey)
  await page.goto('/app/swap')

  await connect(page, 'Pocket')
  await expectText(page, 'Balance 10 USDC')
  await page.getByLabel('Amount to pay').fill('10')
  await page.getByRole('button', { name: 'Review the swap' }).click()
  await expectText(page, /Your wallet shows a transfer of exactly this USDC: its nonce is the hash/)
  await page.getByRole('button', { name: 'Sign and swap' }).click()

  await expectText(page, /^Done\. /)
  expect(asked.filter((method) => method.includes('sign'))).toEqual(['eth_signTypedData_v4'])
  expect(await alpha.codeOf(wallet.address)).toBe('0x')
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(0n)
})

test('a token that takes no signatures is explained to such a wallet', async () => {
  const page = await visit()
  await installEvmWallet(page, generatePrivateKey())
  await page.goto('/app/swap')
  await connect(page, 'Pocket')

  await pick(page, 'You pay: token', 'WETH')

  await expectText(page, 'Pocket cannot pay WETH from alpha yet.')
})

test('a wallet that signs nothing pays by a transfer, in two parts, also after a reload', async () => {
  const privateKey = generatePrivateKey()
  const { address } = privateKeyToAccount(privateKey)
  const page = await visit()
  const asked = await installEvmWallet(page, privateKey)
  await page.goto('/app/swap')
  await connect(page, 'Pocket')
  await pick(page, 'You receive on chain', 'beta')
  await pick(page, 'You receive: token', 'USDC')
  await page.getByRole('button', { name: 'Pay by a transfer instead' }).click()
  await expectText(page, 'Nothing came to the address yet.')
  const to = (await rowOf(page, 'To this address on alpha')).replace('Copy', '') as Address
  const sent = (symbol: string, amount: bigint) => world.fund(alpha, to, symbol, amount)

  const flaws = await findFlaws(page)
  await page.setViewportSize({ width: 320, height: 640 })
  flaws.push(...(await findFlaws(page)))
  const steps = await page.getByRole('list', { name: 'Progress' }).getByRole('listitem').allTextContents()
  const left = await page.locator('.countdown').textContent()
  await sent('USDC', 4n * USDC)
  await expectText(page, '4 USDC came. Send 6 USDC more.')
  await page.reload()
  await expectText(page, 'Send exactly, in USDC')
  const [missing, again] = [await rowOf(page, 'Send exactly'), await rowOf(page, 'To this address on alpha')]
  await sent('USDC', 6n * USDC)
  await expectText(page, /^Done\. /)

  expect(flaws).toEqual([])
  expect(left).toMatch(/^(14 min \d+|15 min 0) s$/)
  expect(steps.map((step) => step.replace(/ \(.*/, ''))).toEqual([
    ...['Waiting for the deposit', 'Deposit seen', 'Taking the deposit', 'Input locked'],
    ...['Paying the recipient', 'Delivered'],
  ])
  expect([missing, again]).toEqual(['6Copy', `${to}Copy`])
  expect(asked.filter((method) => method.includes('sign'))).toEqual([])
  expect(await beta.balanceOf(address, 'USDC')).toBeGreaterThan(9n * USDC)
})

test('Open lists a signature without a swap, until when it can be used and how to make it useless', async () => {
  const page = await visit()
  const privateKey = generatePrivateKey()
  const { address: walletAddress } = privateKeyToAccount(privateKey)
  await installEvmWallet(page, privateKey)
  const sides = { originChain: alpha.chainId, destinationChain: beta.chainId }
  const [inputToken, outputToken] = [alpha.token('USDC'), beta.token('USDC')]
  const request = { ...sides, inputToken, outputToken, amount: `${10n * USDC}`, walletAddress }
  const opDeadline = Math.floor(Date.now() / 1_000) + 60
  const life = { family: 'evm', chainId: alpha.chainId, opDeadline }
  await page.addInitScript(
    (kept) => localStorage.setItem('geoswap.signatures', kept),
    JSON.stringify({ [intentOf(request)]: life }),
  )
  await page.goto('/app/open')
  await connect(page, 'Pocket')

  await expectText(page, 'Signed, without a swap')
  await expectText(page, '10 USDC on alpha to USDC on beta')
  await expectText(page, /can be used until .* move the tokens out of this wallet/)
})

test('a Solana wallet of the browser swaps by the wallet standard', async () => {
  const signer = await generateKeyPairSigner()
  const { signTransaction } = fromKitSigner(signer)
  const page = await visit()
  await page.exposeFunction('signBytes', async (bytes: number[]) => {
    const signed = await signTransaction(Buffer.from(bytes).toString('base64'))
    return [...Buffer.from(signed, 'base64')]
  })
  await page.addInitScript((address) => {
    const ask = window.signBytes
    const account = { address }
    const signTransaction = async ({ transaction }: { transaction: Uint8Array }) => [
      { signedTransaction: Uint8Array.from(await ask([...transaction])) },
    ]
    const features = {
      'standard:connect': { connect: async () => ({ accounts: [account] }) },
      'solana:signTransaction': { signTransaction },
    }
    const wallet = { name: 'Ghost', chains: ['solana:localnet'], accounts: [account], features }
    addEventListener('wallet-standard:app-ready', (event) => {
      ;(event as CustomEvent<{ register(wallet: unknown): void }>).detail.register(wallet)
    })
  }, signer.address)
  await page.goto('/app/swap')
  await pick(page, 'You pay on chain', 'solana')
  await pick(page, 'You receive on chain', 'alpha')
  await choose(page, 'Ghost')
  await page.getByRole('button', { name: 'Get test USDC' }).click()
  await expectText(page, 'Balance 1,000 USDC')

  await sign(page)

  await expectText(page, /^Done\. /)
})
