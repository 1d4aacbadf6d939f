import { fromKitSigner, intentOf } from '@geoswap/sdk'
import { generateKeyPairSigner } from '@solana/kit'
import type { Page } from 'playwright-core'
import type { Address } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, inject, test } from 'vitest'

import { createWorld, outcomeOf, submitSwap } from '../world.ts'
import { findFlaws } from './axe.ts'
import { useBrowser } from './browser.ts'
import { connect, installEvmWallet } from './evm-wallet.ts'
import { expectText, pick, rowOf, sign } from './steps.ts'

const world = createWorld(inject('local'))
const { alpha, beta } = world
const { visit } = useBrowser()
const USDC = 1_000_000n

declare global {
  interface Window {
    signBytes(bytes: number[]): Promise<number[]>
  }
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
  const { asked } = await installEvmWallet(page, privateKey)
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
  const { asked } = await installEvmWallet(page, privateKey)
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

test('a wallet that signs nothing pays by a transfer, in two parts, also after a reload', async () => {
  const privateKey = generatePrivateKey()
  const { address } = privateKeyToAccount(privateKey)
  const page = await visit()
  const { asked } = await installEvmWallet(page, privateKey)
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
  await expectText(page, /can be used\. Until .* move the tokens out of this wallet/)
})

/** A Solana wallet of the wallet standard, which remembers that it shared its account. */
async function installSolanaWallet(page: Page, chains: string[], isMeddling = false): Promise<void> {
  const signer = await generateKeyPairSigner()
  const { signTransaction } = fromKitSigner(signer)
  await page.exposeFunction('signBytes', async (bytes: number[]) => {
    const signed = Buffer.from(await signTransaction(Buffer.from(bytes).toString('base64')), 'base64')
    // A wallet that adds to the message signs another one.
    if (isMeddling) signed[signed.length - 1] = (signed.at(-1) ?? 0) ^ 1
    return [...signed]
  })
  await page.addInitScript(
    ({ address, chains }) => {
      const ask = window.signBytes
      const account = { address }
      const signTransaction = async ({ transaction }: { transaction: Uint8Array }) => [
        { signedTransaction: Uint8Array.from(await ask([...transaction])) },
      ]
      const features = {
        'standard:connect': {
          async connect(input?: { silent: boolean }) {
            const isKnown = localStorage.getItem('ghost') === 'shared'
            if (!input?.silent) localStorage.setItem('ghost', 'shared')
            return { accounts: input?.silent && !isKnown ? [] : [account] }
          },
        },
        'solana:signTransaction': { signTransaction },
      }
      const wallet = { name: 'Ghost', chains, accounts: [], features }
      addEventListener('wallet-standard:app-ready', (event) => {
        ;(event as CustomEvent<{ register(wallet: unknown): void }>).detail.register(wallet)
      })
    },
    { address: signer.address, chains },
  )
}

test.each(['USDC', 'SOL'])('a Solana wallet of the browser swaps %s, also after a reload', async (symbol) => {
  const page = await visit()
  await installSolanaWallet(page, ['solana:localnet'])
  await page.goto(`/app/swap?from=solana:${symbol}&to=alpha:ETH&amount=0.5`)
  await choose(page, 'Ghost')
  await page.getByRole('button', { name: `Get test ${symbol}` }).click()
  await expectText(page, /^Balance [1-9]/)
  await page.reload()
  await page.locator('details.wallet summary').first().getByText('Ghost').waitFor()

  await sign(page)

  await expectText(page, /^Done\. /)
})

test('a Solana wallet of another network is told apart before anything is asked', async () => {
  const page = await visit()
  await installSolanaWallet(page, ['solana:mainnet'])
  await page.goto('/app/swap?from=solana:SOL&to=alpha:ETH&amount=0.5')
  await choose(page, 'Ghost')

  await page.getByRole('button', { name: 'Ghost does not work on solana.', disabled: true }).waitFor()
})

test('a transaction that the wallet changed is not submitted, and the page says so', async () => {
  const page = await visit()
  await installSolanaWallet(page, ['solana:localnet'], true)
  await page.goto('/app/swap?from=solana:SOL&to=alpha:ETH&amount=0.5')
  await choose(page, 'Ghost')
  await page.getByRole('button', { name: 'Get test SOL' }).click()
  await expectText(page, /^Balance [1-9]/)

  await sign(page)

  await expectText(page, 'Ghost changed the transaction, so it cannot be used. Nothing was signed or sent.')
})
