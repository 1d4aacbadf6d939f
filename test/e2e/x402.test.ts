import { generateKeyPairSigner } from '@solana/kit'
import { ExactEvmScheme } from '@x402/evm'
import { extractDiscoveryInfo } from '@x402/extensions/bazaar'
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, inject, test } from 'vitest'
import { passDeadline } from '../ways.ts'
import { createWorld, type WorldChain } from '../world.ts'

const local = inject('local')
const world = createWorld(local)
const { alpha, beta } = world
const solana = local.chains.find(({ family }) => family === 'solana') ?? expect.unreachable()
const USDC = 1_000_000n
const AMOUNT = 10n * USDC

const funded = () => world.walletWith(alpha, 'USDC', AMOUNT)

/** The public client as it is, without its list of known dollars. */
function payerOf(wallet: PrivateKeyAccount) {
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(wallet)).setSpendControls(false)
  return { client, fetch: wrapFetchWithPayment(fetch, client) }
}

function urlOf(
  recipient: string,
  changed: Record<string, string> = {},
  to: Pick<WorldChain, 'chainId'> = beta,
) {
  const outputToken = local.chains
    .find(({ chainId }) => chainId === to.chainId)
    ?.tokens.find(({ symbol }) => symbol === 'USDC')
  const query = new URLSearchParams({
    originChain: `eip155:${alpha.chainId}`,
    destinationChain: String(to.chainId),
    inputToken: alpha.token('USDC'),
    outputToken: outputToken?.address ?? '',
    amount: AMOUNT.toString(),
    recipient,
    ...changed,
  })
  return `${local.apiUrl}/swap/x402?${query}`
}

type Required = Parameters<x402Client['createPaymentPayload']>[0]

async function ask(url: string): Promise<Required> {
  const response = await fetch(url)
  expect(response.status, await response.clone().text()).toBe(402)
  const header = response.headers.get('payment-required') ?? ''
  return JSON.parse(Buffer.from(header, 'base64').toString())
}

const toHeader = (payload: object) => Buffer.from(JSON.stringify(payload)).toString('base64')
const pay = (url: string, payload: object) =>
  fetch(url, { headers: { 'PAYMENT-SIGNATURE': toHeader(payload) } })

test('one payment of the public client swaps alpha to beta, without a key, and the answer says settled', async () => {
  const wallet = await funded()

  const response = await payerOf(wallet).fetch(urlOf(wallet.address))

  const status = (await response.json()) as Record<string, unknown>
  expect([response.status, status.status, status.method]).toEqual([200, 'settled', 'payment'])
  const paid = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '')
  expect(paid).toMatchObject({ success: true, transaction: status.originTxHash, payer: wallet.address })
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(0n)
  expect(await beta.balanceOf(wallet.address, 'USDC')).toBeGreaterThan(0n)
})

test('to Solana the payer names its wallet, and is told to if it does not', async () => {
  const wallet = await funded()
  const { address: recipient } = await generateKeyPairSigner()

  const without = await fetch(urlOf(recipient, {}, solana))
  const response = await payerOf(wallet).fetch(urlOf(recipient, { wallet: wallet.address }, solana))

  expect([without.status, JSON.stringify(await without.json())]).toEqual([
    400,
    expect.stringContaining('wallet'),
  ])
  expect([response.status, await response.json()]).toEqual([
    200,
    expect.objectContaining({ status: 'settled' }),
  ])
})

test('of several origins those are offered that can be paid from, with the terms of the operation', async () => {
  const wallet = await funded()
  await world.fund(beta, wallet.address, 'USDC', 10n ** 19n)
  // Ten million units of a token with 18 decimals pay for nothing.
  const both = { originChain: `${alpha.chainId},${beta.chainId}`, outputToken: beta.token('WETH') }
  const inputToken = `${alpha.token('USDC')},${beta.token('USDC')}`

  const { accepts } = await ask(urlOf(wallet.address, { ...both, inputToken }))

  expect(accepts.map(({ network }) => network)).toEqual([`eip155:${alpha.chainId}`])
  for (const { extra } of accepts)
    expect(extra).toMatchObject({ version: '2', quote: {}, operation: { primaryType: 'GeoOp' } })
})

test('a catalogue of x402 reads from a payment how to ask for another', async () => {
  const wallet = await funded()
  const url = urlOf(wallet.address)
  const required = await ask(url)
  const payment = await payerOf(wallet).client.createPaymentPayload(required)

  const found = extractDiscoveryInfo(payment, required.accepts[0] ?? expect.unreachable())

  expect(found).toMatchObject({
    ...{ resourceUrl: `${local.apiUrl}/swap/x402`, method: 'GET', serviceName: 'geoswap' },
    discoveryInfo: { input: { type: 'http', queryParams: { amount: expect.any(String) } } },
  })
})

test('the same payment twice, and another one for the operation, are one swap and one payment', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 3n * AMOUNT)
  const url = urlOf(wallet.address)
  const required = await ask(url)
  const { client } = payerOf(wallet)
  const [first, second] = [
    await client.createPaymentPayload(required),
    await client.createPaymentPayload(required),
  ]

  const answers = await Promise.all([pay(url, first), pay(url, first), pay(url, second)])

  const swaps = await Promise.all(answers.map((each) => each.json() as Promise<{ swapId: string }>))
  expect(new Set(swaps.map(({ swapId }) => swapId)).size).toBe(1)
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(2n * AMOUNT)
})

test('a payer that lacks the input gets an offer, and pays once it holds it', async () => {
  const wallet = privateKeyToAccount(generatePrivateKey())
  const url = urlOf(wallet.address)
  const early = await payerOf(wallet).client.createPaymentPayload(await ask(url))

  const refused = await pay(url, early)
  await world.fund(alpha, wallet.address, 'USDC', AMOUNT)
  const { status } = await payerOf(wallet).fetch(url)

  expect([refused.status, await refused.json()]).toMatchObject([
    402,
    { accepts: [{}], error: expect.stringContaining('INSUFFICIENT_BALANCE') },
  ])
  expect([status, await alpha.balanceOf(wallet.address, 'USDC')]).toEqual([200, 0n])
})

type Payload = {
  accepted: Record<string, unknown>
  payload: { signature: string; authorization: Record<string, string> }
}

describe('a payment that is not the one asked for', () => {
  test.each<[string, (payload: Payload) => Payload]>([
    ['of another amount', (p) => ({ ...p, accepted: { ...p.accepted, amount: '1' } })],
    ['of another asset', (p) => ({ ...p, accepted: { ...p.accepted, asset: beta.contracts.vault } })],
    ['on another network', (p) => ({ ...p, accepted: { ...p.accepted, network: 'eip155:8453' } })],
    ['to another address', (p) => withTerms(p, { to: beta.contracts.vault })],
    ['of another payer', (p) => withTerms(p, { from: beta.contracts.vault })],
    ['that ends too early', (p) => withTerms(p, { validBefore: '1' })],
    ['that is not valid yet', (p) => withTerms(p, { validAfter: '99999999999' })],
    ['with a wrong signature', (p) => withTerms(p, { nonce: `0x${'12'.repeat(32)}` })],
  ])('%s is refused with new requirements, and nothing is taken', async (_, change) => {
    const wallet = await funded()
    const url = urlOf(wallet.address)
    const payload = await payerOf(wallet).client.createPaymentPayload(await ask(url))

    const answer = await pay(url, change(payload as never))

    const body = (await answer.json()) as { error: string; accepts: unknown[] }
    expect([answer.status, body.accepts.length]).toEqual([402, 1])
    expect(body.error).not.toContain('required')
    expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(AMOUNT)
  })

  test('by another wallet than the payer is refused', async () => {
    const wallet = await funded()
    const stranger = privateKeyToAccount(generatePrivateKey())

    const answer = await payerOf(stranger).fetch(urlOf(wallet.address))

    expect([answer.status, await answer.json()]).toEqual([
      402,
      expect.objectContaining({ error: expect.stringContaining(wallet.address) }),
    ])
  })

  test('for an operation that is over is refused with new requirements', async () => {
    const wallet = await funded()
    const url = urlOf(wallet.address)
    const required = await ask(url)
    const payload = await payerOf(wallet).client.createPaymentPayload(required)
    await passDeadline(alpha, required.accepts[0]?.extra as never)

    const answer = await pay(url, payload as never)

    expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(AMOUNT)
    expect(answer.status).toBe(402)
  })
})

const withTerms = (payload: Payload, terms: Record<string, string>): Payload => ({
  ...payload,
  payload: { ...payload.payload, authorization: { ...payload.payload.authorization, ...terms } },
})

test('a payer of version 1 reads the body and is answered in its header', async () => {
  const wallet = await funded()
  const url = urlOf(wallet.address)
  const { x402Version, accepts } = (await (await fetch(url)).json()) as {
    x402Version: number
    accepts: never[]
  }
  const [offered] = accepts as Record<string, never>[]
  const requirements = { ...offered, amount: offered?.maxAmountRequired } as never
  const { payload } = await new ExactEvmScheme(wallet).createPaymentPayload(1, requirements)
  const payment = { x402Version, scheme: 'exact', network: offered?.network, payload }

  const answer = await fetch(url, { headers: { 'X-PAYMENT': toHeader(payment) } })

  expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ status: 'settled' })])
  const paid = decodePaymentResponseHeader(answer.headers.get('x-payment-response') ?? '')
  expect(paid).toMatchObject({ success: true, payer: wallet.address })
})

test('the parameters may be a body, and an unknown one is refused', async () => {
  const wallet = await funded()
  const body = Object.fromEntries(new URL(urlOf(wallet.address)).searchParams)
  const post = (sent: object) =>
    fetch(`${local.apiUrl}/swap/x402`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(sent),
    })

  const [asked, refused] = await Promise.all([post(body), post({ ...body, slippage: '1' })])

  expect([asked.status, refused.status]).toEqual([402, 400])
})
