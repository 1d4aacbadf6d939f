import type { QuoteReply } from '@geoswap/wire'
import { generateKeyPairSigner } from '@solana/kit'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { describe, expect, inject, test } from 'vitest'
import { createCheckedClient, refusalOf, refusedFields } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import {
  accountOf,
  readEffects,
  type SolanaOrder,
  submitSolanaSwap,
  transactionsOf,
} from '../solana-orders.ts'
import { createSolanaWorld, TOKEN_2022_PROGRAM_ADDRESS } from '../solana-world.ts'
import { createWorld, type Order, outcomeOf, submitSwap, toRequest, until } from '../world.ts'

const local = inject('local')
const world = createWorld(local)
const { alpha, beta } = world
const solana = await createSolanaWorld(local)
const api = createCheckedClient({ ...local, apiKey: await createOperator(inject('databaseUrl')).createKey() })
const counter = { api, solana }

const USDC = 1_000_000n
const CENT = 10_000
const SOL = 10n ** 9n
const ETHER = 10n ** 18n

const newRecipient = () => privateKeyToAddress(generatePrivateKey())
const feeOf = ({ fees }: QuoteReply, kind: string) => fees.find((fee) => fee.kind === kind)?.amount
const sumOfFees = ({ fees }: QuoteReply) => fees.reduce((sum, { amount }) => sum + BigInt(amount), 0n)

/** Swaps out of Solana and waits until the swap has settled. */
async function swapOut(amounts: Record<string, bigint>, order: SolanaOrder) {
  const wallet = await solana.wallet(amounts)
  const swap = await submitSolanaSwap(counter, wallet, order)
  const outcome = await outcomeOf({ api }, swap.swapId)
  expect(outcome.status).toBe('settled')
  return { ...swap, wallet, outcome }
}

/** Swaps USDC of a new wallet on alpha into Solana. */
async function swapIn(order: Pick<Order, 'buy' | 'recipient' | 'tradeType'> & { amount?: bigint }) {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  const route = { from: alpha, sell: 'USDC', to: solana }
  const swap = await submitSwap({ api }, wallet, { ...route, amount: 10n * USDC, ...order })
  const outcome = await outcomeOf({ api }, swap.swapId)
  expect(outcome.status).toBe('settled')
  return { ...swap, wallet, outcome }
}

describe.concurrent('out of Solana', () => {
  test('a wallet that holds only USDC, and no SOL, receives USDC on alpha', async () => {
    const recipient = newRecipient()

    const order = { sell: 'USDC', to: alpha, buy: 'USDC', amount: 10n * USDC, recipient }
    const { quote, wallet, operation, outcome } = await swapOut({ USDC: 100n * USDC }, order)

    expect(await alpha.balanceOf(recipient, 'USDC')).toBe(BigInt(quote.output))
    expect(await solana.balanceOf(wallet.address, solana.token('USDC'))).toBe(90n * USDC)
    expect(await solana.balanceOf(wallet.address, solana.token('SOL'))).toBe(0n)
    expect(outcome.amounts).toMatchObject({ input: '10000000', delivered: quote.output })
    const taken = await readEffects(solana, outcome.originTxHash ?? '')
    expect(taken.failed).toBe(false)
    expect(taken.tokens.get(await accountOf(solana, wallet.address, 'USDC'))).toBe(-10n * USDC)
    expect(taken.tokens.get(operation.destination)).toBe(10n * USDC)
    expect(taken.lamports.get(wallet.address)).toBe(0n)
    expect(Number(feeOf(quote, 'originNetwork'))).toBeLessThan(CENT)
  })

  test('USDC becomes native ETH on alpha', async () => {
    const recipient = newRecipient()

    const order = { sell: 'USDC', to: alpha, buy: 'ETH', amount: 10n * USDC, recipient }
    const { quote, wallet } = await swapOut({ USDC: 10n * USDC }, order)

    expect(await alpha.balanceOf(recipient, 'ETH')).toBe(BigInt(quote.output))
    expect(await solana.balanceOf(wallet.address, solana.token('USDC'))).toBe(0n)
  })

  test('all of a wallet’s SOL can be the input', async () => {
    const recipient = newRecipient()

    const order = { sell: 'SOL', to: beta, buy: 'USDC', amount: SOL, recipient }
    const { quote, wallet } = await swapOut({ SOL }, order)

    expect(await beta.balanceOf(recipient, 'USDC')).toBe(BigInt(quote.output))
    expect(await solana.balanceOf(wallet.address, solana.token('SOL'))).toBe(0n)
  })

  test('a part of a wallet’s SOL can be the input, and the rest stays to the last lamport', async () => {
    const order = { sell: 'SOL', to: alpha, buy: 'WETH', amount: SOL / 4n, recipient: newRecipient() }
    const { wallet } = await swapOut({ SOL }, order)

    expect(await solana.balanceOf(wallet.address, solana.token('SOL'))).toBe((SOL * 3n) / 4n)
  })

  test('a token of the newer token program can be the input', async () => {
    const recipient = newRecipient()

    const order = { sell: 'USDG', to: alpha, buy: 'USDC', amount: 10n * USDC, recipient }
    const { quote, wallet } = await swapOut({ USDG: 25n * USDC }, order)

    expect(await alpha.balanceOf(recipient, 'USDC')).toBe(BigInt(quote.output))
    expect(await solana.balanceOf(wallet.address, solana.token('USDG'))).toBe(15n * USDC)
  })

  test('an exact output arrives to the last unit, and the quoted input is taken', async () => {
    const recipient = newRecipient()

    const exact = { tradeType: 'exactOutput' as const, amount: ETHER / 1_000n }
    const order = { sell: 'USDC', to: beta, buy: 'ETH', recipient, ...exact }
    const { quote, wallet } = await swapOut({ USDC: 100n * USDC }, order)

    expect([quote.output, quote.minOutput]).toEqual([`${exact.amount}`, `${exact.amount}`])
    expect(await beta.balanceOf(recipient, 'ETH')).toBe(exact.amount)
    const left = await solana.balanceOf(wallet.address, solana.token('USDC'))
    expect(left).toBe(100n * USDC - BigInt(quote.input))
  })

  test.each(['USDC', 'SOL'])(
    'the same token goes to another recipient without SOL for fees: %s',
    async (sell) => {
      const { address: recipient } = await generateKeyPairSigner()

      const order = { sell, to: solana, buy: sell, amount: 100n * USDC, recipient }
      const { quote, wallet } = await swapOut({ [sell]: 400n * USDC }, order)

      expect(await solana.balanceOf(recipient, solana.token(sell))).toBe(BigInt(quote.output))
      expect(await solana.balanceOf(wallet.address, solana.token(sell))).toBe(300n * USDC)
      expect(sumOfFees(quote) + BigInt(quote.output)).toBe(BigInt(quote.input))
      expect(feeOf(quote, 'priceImpact')).toBeUndefined()
    },
  )

  test('a swap can stay on Solana: the wallet itself is the recipient, and gets its first account', async () => {
    const order = { sell: 'USDC', to: solana, buy: 'GEO', amount: 10n * USDC }
    const { quote, wallet } = await swapOut({ USDC: 10n * USDC }, order)

    expect(await solana.balanceOf(wallet.address, solana.token('GEO'))).toBe(BigInt(quote.output))
    expect(feeOf(quote, 'accountRent')).toBeDefined()
    expect(await solana.balanceOf(wallet.address, solana.token('SOL'))).toBe(0n)
  })
})

describe.concurrent('into Solana', () => {
  test('a recipient without a token account gets one, and its rent is among the fees', async () => {
    const recipient = await generateKeyPairSigner()

    const { quote, outcome } = await swapIn({ buy: 'USDC', recipient: recipient.address })

    expect(await solana.balanceOf(recipient.address, solana.token('USDC'))).toBe(BigInt(quote.output))
    expect(await solana.balanceOf(recipient.address, solana.token('SOL'))).toBe(0n)
    expect(Number(feeOf(quote, 'accountRent'))).toBeGreaterThan(0)
    expect(BigInt(quote.input) - sumOfFees(quote)).toBe(BigInt(quote.output))
    const { tokens } = await readEffects(solana, outcome.deliveryTxHash ?? '')
    const account = await accountOf(solana, recipient.address, 'USDC')
    expect(tokens.get(account)).toBe(BigInt(quote.output))
  })

  test('a recipient with a token account pays no rent', async () => {
    const recipient = await solana.wallet({ USDC })

    const { quote } = await swapIn({ buy: 'USDC', recipient: recipient.address })

    expect(await solana.balanceOf(recipient.address, solana.token('USDC'))).toBe(USDC + BigInt(quote.output))
    expect(feeOf(quote, 'accountRent')).toBeUndefined()
    expect(Number(feeOf(quote, 'deliveryNetwork'))).toBeLessThan(CENT)
    expect(BigInt(quote.input) - sumOfFees(quote)).toBe(BigInt(quote.output))
  })

  test('native SOL arrives at an address that has never held any', async () => {
    const recipient = await generateKeyPairSigner()

    const { quote } = await swapIn({ buy: 'SOL', recipient: recipient.address })

    expect(await solana.balanceOf(recipient.address, solana.token('SOL'))).toBe(BigInt(quote.output))
    expect(feeOf(quote, 'accountRent')).toBeUndefined()
  })

  test('GEO arrives with the nine decimals it has on Solana', async () => {
    const recipient = await generateKeyPairSigner()

    const { quote } = await swapIn({ buy: 'GEO', recipient: recipient.address })

    expect(await solana.balanceOf(recipient.address, solana.token('GEO'))).toBe(BigInt(quote.output))
    // Ten dollars buy twenty, less the costs.
    expect(BigInt(quote.output) / SOL).toBeOneOf([18n, 19n])
  })

  test('a token of the newer token program arrives in an account of that program', async () => {
    const recipient = await generateKeyPairSigner()

    const { quote } = await swapIn({ buy: 'USDG', recipient: recipient.address })

    expect(await solana.balanceOf(recipient.address, solana.token('USDG'))).toBe(BigInt(quote.output))
    const account = await accountOf(solana, recipient.address, 'USDG')
    const options = { commitment: 'confirmed', encoding: 'base64' } as const
    const { value } = await solana.rpc.getAccountInfo(account, options).send()
    expect(value?.owner).toBe(TOKEN_2022_PROGRAM_ADDRESS)
  })

  test('an exact output arrives to the last unit', async () => {
    const recipient = await generateKeyPairSigner()

    const exact = { tradeType: 'exactOutput' as const, amount: 7_654_321n }
    const { quote, wallet } = await swapIn({ buy: 'USDC', recipient: recipient.address, ...exact })

    expect([quote.output, quote.minOutput]).toEqual(['7654321', '7654321'])
    expect(await solana.balanceOf(recipient.address, solana.token('USDC'))).toBe(7_654_321n)
    expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(100n * USDC - BigInt(quote.input))
  })
})

describe('400 INVALID_REQUEST without a recipient between families', () => {
  test.each(['out of', 'into'])('%s Solana', async (direction) => {
    const wallet = direction === 'into' ? newRecipient() : (await generateKeyPairSigner()).address
    const [from, to] = direction === 'into' ? [alpha, solana] : [solana, alpha]
    const order = { from, sell: 'USDC', to, buy: 'USDC', amount: 10n * USDC }

    const reply = await api.quote(toRequest({ address: wallet }, order))

    expect(refusalOf(reply)).toBe('400 INVALID_REQUEST')
    expect(refusedFields(reply)).toEqual(['recipient'])
  })
})

test('the delegation of a Solana wallet has nothing to sign', async () => {
  const { address } = await generateKeyPairSigner()

  const { body } = await api.delegation(solana.chainId, address)

  expect(body).toEqual({
    chainId: solana.chainId,
    walletAddress: address,
    caip: { chainId: 'solana:31339', walletAddress: `solana:31339:${address}` },
    delegated: false,
    originReady: true,
  })
})

test('the input of a settled swap leaves the escrow for the vault, once, and its account is gone', async () => {
  const order = { sell: 'GEO', to: alpha, buy: 'USDC', amount: 20n * SOL, recipient: newRecipient() }
  const { operation, outcome } = await swapOut({ GEO: 20n * SOL }, order)
  const { destination: account, opId, feePayer } = operation

  await solana.dev.dev_advanceSlots(33).send()
  const claim = await until(async () => {
    const [input, second] = await transactionsOf(solana, { account, opId })
    expect(input?.signature).toBe(outcome.originTxHash)
    return second?.signature
  })

  const taken = await readEffects(solana, outcome.originTxHash ?? '')
  const { tokens, lamports, fee } = await readEffects(solana, claim)
  expect(tokens.get(account)).toBe(-20n * SOL)
  expect(tokens.get(await accountOf(solana, solana.vault, 'GEO'))).toBe(20n * SOL)
  expect(lamports.get(feePayer)).toBe(-(lamports.get(account) ?? 0n) - fee)
  expect(lamports.get(account)).toBe(-(taken.lamports.get(account) ?? 0n))
  await solana.dev.dev_advanceSlots(33).send()
  expect(await transactionsOf(solana, { account, opId })).toHaveLength(2)
})
