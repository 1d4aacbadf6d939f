import { address, generateKeyPairSigner, type Instruction, type KeyPairSigner } from '@solana/kit'
import { getAddMemoInstruction } from '@solana-program/memo'
import { getTransferSolInstruction } from '@solana-program/system'
import { getTransferCheckedInstruction } from '@solana-program/token'
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { ExactSvmScheme } from '@x402/svm'
import { ExactSvmSchemeV1 } from '@x402/svm/v1'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { endFaults } from '../solana-orders.ts'
import { createSolanaWorld } from '../solana-world.ts'
import { createWorld, until } from '../world.ts'
import { accountOf, type Changed, type TransferOffer, toTransfer } from '../x402-solana.ts'

const local = inject('local')
const { beta } = createWorld(local)
const solana = await createSolanaWorld(local)
const rpcUrl = local.chains.find(({ family }) => family === 'solana')?.rpcUrl ?? ''
const usdc = solana.token('USDC')
const AMOUNT = 10_000_000n
const held = (owner: string) => solana.balanceOf(owner, usdc)

afterEach(() => endFaults(solana))

// The public client knows the three public clusters alone: here the local chain has the name of one.
const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'
const LOCAL = `solana:${solana.chainId}`
const HEADERS = ['payment-required', 'payment-response', 'payment-signature']

const fromBase64 = (text: string) => Buffer.from(text, 'base64').toString()

function rename(headers: Headers, from: string, to: string): Headers {
  const renamed = new Headers(headers)
  for (const name of HEADERS) {
    const value = headers.get(name)
    if (value === null) continue
    const json = fromBase64(value).replaceAll(from, to)
    renamed.set(name, Buffer.from(json).toString('base64'))
  }
  return renamed
}

const fetchAsDevnet: typeof fetch = async (input, init) => {
  const request = new Request(input, init)
  const answer = await fetch(new Request(request, { headers: rename(request.headers, DEVNET, LOCAL) }))
  return new Response(answer.body, { status: answer.status, headers: rename(answer.headers, LOCAL, DEVNET) })
}

function payerOf(wallet: KeyPairSigner) {
  const scheme = new ExactSvmScheme(wallet, { rpcUrl })
  const client = new x402Client().register('solana:*', scheme).setSpendControls(false)
  return { client, fetch: wrapFetchWithPayment(fetchAsDevnet, client) }
}

function urlOf(wallet: KeyPairSigner, recipient: string, changed: Record<string, string> = {}) {
  const query = new URLSearchParams({
    originChain: LOCAL,
    destinationChain: String(beta.chainId),
    inputToken: usdc,
    outputToken: beta.token('USDC'),
    amount: AMOUNT.toString(),
    recipient,
    wallet: wallet.address,
    ...changed,
  })
  return `${local.apiUrl}/swap/x402?${query}`
}

const newRecipient = () => privateKeyToAddress(generatePrivateKey())

type Required = Parameters<x402Client['createPaymentPayload']>[0]
type Extra = TransferOffer['extra'] & { operation: Record<string, string> }

async function ask(url: string) {
  const response = await fetchAsDevnet(url)
  expect(response.status, await response.clone().text()).toBe(402)
  const header = response.headers.get('payment-required') ?? ''
  const required: Required & { accepts: (TransferOffer & { extra: Extra })[] } = JSON.parse(
    fromBase64(header),
  )
  const [offered] = required.accepts
  if (!offered) throw new Error('Nothing is offered')
  return { required, offered, extra: offered.extra }
}

const toHeader = (payload: object) => Buffer.from(JSON.stringify(payload)).toString('base64')
const pay = (url: string, payload: object) =>
  fetchAsDevnet(url, { headers: { 'PAYMENT-SIGNATURE': toHeader(payload) } })
const isOpen = async (account: string) =>
  (await solana.rpc.getAccountInfo(address(account), { encoding: 'base64' }).send()).value !== null

test('one payment of the public client swaps Solana to beta, without SOL and a key', async () => {
  const wallet = await solana.wallet({ USDC: AMOUNT })
  const recipient = newRecipient()

  const response = await payerOf(wallet).fetch(urlOf(wallet, recipient))

  const status = (await response.json()) as Record<string, unknown>
  expect([response.status, status.status, status.method]).toEqual([200, 'settled', 'payment'])
  const paid = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '')
  expect(paid).toMatchObject({ success: true, transaction: status.originTxHash, payer: wallet.address })
  expect(await held(wallet.address)).toBe(0n)
  expect(await beta.balanceOf(recipient, 'USDC')).toBeGreaterThan(0n)
})

test('a payer of version 1, with a blockhash of its own, is answered in its header', async () => {
  const wallet = await solana.wallet({ USDC: AMOUNT })
  const url = urlOf(wallet, newRecipient())
  const { accepts } = (await (await fetch(url)).json()) as { accepts: Record<string, unknown>[] }
  const requirements = { ...accepts[0], network: 'solana-devnet' } as never
  const scheme = new ExactSvmSchemeV1(wallet, { rpcUrl })
  const { payload } = await scheme.createPaymentPayload(1, requirements)
  const payment = { x402Version: 1, scheme: 'exact', network: LOCAL, payload }

  const answer = await fetch(url, { headers: { 'X-PAYMENT': toHeader(payment) } })

  expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ status: 'settled' })])
  const paid = decodePaymentResponseHeader(answer.headers.get('x-payment-response') ?? '')
  expect(paid).toMatchObject({ success: true, payer: wallet.address })
})

test('the same payment twice, and another one for the operation, are one swap and one payment', async () => {
  const wallet = await solana.wallet({ USDC: 3n * AMOUNT })
  const url = urlOf(wallet, newRecipient())
  const { required, offered } = await ask(url)
  const first = await payerOf(wallet).client.createPaymentPayload(required)
  const transaction = await toTransfer(wallet, offered, { units: 30_000 })
  const second = { ...first, payload: { transaction } }

  const answers = await Promise.all([pay(url, first), pay(url, first), pay(url, second)])

  const swaps = await Promise.all(answers.map((each) => each.json() as Promise<{ swapId: string }>))
  expect(new Set(swaps.map(({ swapId }) => swapId)).size).toBe(1)
  expect(await held(wallet.address)).toBe(2n * AMOUNT)
})

test('a payer that lacks the input gets an offer, and pays once it holds it', async () => {
  const wallet = await solana.wallet()
  const url = urlOf(wallet, newRecipient())
  const early = await payerOf(wallet).client.createPaymentPayload((await ask(url)).required)

  const refused = await pay(url, early)
  await solana.fund(wallet.address, 'USDC', AMOUNT)
  const { status } = await payerOf(wallet).fetch(url)

  expect([refused.status, await refused.json()]).toMatchObject([
    402,
    { accepts: [{}], error: expect.stringContaining('INSUFFICIENT_BALANCE') },
  ])
  expect([status, await held(wallet.address)]).toEqual([200, 0n])
})

test('an offer that nobody pays opens no account', async () => {
  const wallet = await solana.wallet({ USDC: AMOUNT })

  const { extra } = await ask(urlOf(wallet, newRecipient()))

  expect(await isOpen(extra.operation['destination'] ?? '')).toBe(false)
})

const stranger = await generateKeyPairSigner()
const lastOf = (text: string) => `${text.slice(0, -1)}${text.endsWith('1') ? '2' : '1'}`

describe('a transaction that is not the one asked for', () => {
  test.each<[string, (offer: Extra, wallet: KeyPairSigner) => Changed]>([
    ['of another amount', () => ({ amount: AMOUNT - 1n })],
    ['to another account', () => ({ to: stranger.address })],
    ['with another fee payer', () => ({ feePayer: stranger.address })],
    ['without units to move the tokens', () => ({ units: 100 })],
    ['at a price that drains its fee payer', () => ({ units: 1_400_000, price: 1_000_000_000 })],
    ['at a price somewhat above the bound', () => ({ units: 60_000, price: 5_000_000 })],
    ['that names another operation', ({ memo }) => ({ memo: `ab${memo.slice(2)}` })],
    ['that names another deadline', ({ memo }) => ({ memo: lastOf(memo) })],
    ['without our memo', () => ({ memo: 'hello' })],
    ['with another instruction', () => ({ more: [getAddMemoInstruction({ memo: 'more' })] })],
    [
      'that takes SOL of its fee payer',
      ({ feePayer }) => {
        const source = { address: address(feePayer) } as KeyPairSigner
        return {
          more: [toUnsigned(getTransferSolInstruction({ source, destination: stranger.address, amount: 1 }))],
        }
      },
    ],
  ])('%s is refused with new requirements, and nothing is taken or opened', async (_, change) => {
    const wallet = await solana.wallet({ USDC: AMOUNT })
    const url = urlOf(wallet, newRecipient())
    const { required, offered, extra } = await ask(url)
    const payment = await payerOf(wallet).client.createPaymentPayload(required)
    const transaction = await toTransfer(wallet, offered, change(extra, wallet))

    const answer = await pay(url, { ...payment, payload: { transaction } })

    const { error, accepts } = (await answer.json()) as { error: string; accepts: unknown[] }
    expect([answer.status, accepts.length, error.includes('is required')]).toEqual([402, 1, false])
    expect(await held(wallet.address)).toBe(AMOUNT)
    expect(await isOpen(extra.operation['destination'] ?? '')).toBe(false)
  })

  test.each<[string, (transaction: Buffer) => Buffer]>([
    ['without its signature', (wire) => wire.fill(0, 65, 129)],
    ['of half its bytes', (wire) => wire.subarray(0, 200)],
    ['with bytes behind it', (wire) => Buffer.concat([wire, Buffer.of(0)])],
    ['of nothing but ones', (wire) => wire.fill(255)],
  ])('%s is refused, and nothing is taken', async (_, change) => {
    const wallet = await solana.wallet({ USDC: AMOUNT })
    const url = urlOf(wallet, newRecipient())
    const { required, offered } = await ask(url)
    const payment = await payerOf(wallet).client.createPaymentPayload(required)
    const wire = Buffer.from(await toTransfer(wallet, offered), 'base64')

    const answer = await pay(url, { ...payment, payload: { transaction: change(wire).toString('base64') } })

    expect([answer.status, await held(wallet.address)]).toEqual([402, AMOUNT])
  })

  test('of another wallet than the payer is refused', async () => {
    const [wallet, other] = [await solana.wallet({ USDC: AMOUNT }), await solana.wallet({ USDC: AMOUNT })]

    const answer = await payerOf(other).fetch(urlOf(wallet, newRecipient()))

    expect(answer.status).toBe(402)
    expect(await held(other.address)).toBe(AMOUNT)
  })
})

/** The wallet does not sign for the fee payer; the service would. */
const toUnsigned = ({ accounts = [], ...instruction }: Instruction): Instruction => ({
  ...instruction,
  accounts: accounts.map(({ address: named, role }) => ({ address: named, role })),
})

test('native SOL, and a payer that is not named, are refused with the reason', async () => {
  const wallet = await solana.wallet({ USDC: AMOUNT })
  const native = urlOf(wallet, newRecipient(), { inputToken: '11111111111111111111111111111111' })
  const unnamed = new URL(urlOf(wallet, newRecipient()))
  unnamed.searchParams.delete('wallet')

  const refused = await Promise.all([fetch(native), fetch(unnamed)])

  expect(refused.map(({ status }) => status)).toEqual([400, 400])
  const [first, second] = await Promise.all(refused.map((each) => each.text()))
  expect([first, second]).toEqual([expect.stringContaining('native coin'), expect.stringContaining('wallet')])
})

test('a payer that spends its tokens meanwhile ends its swap as failed, and no account is opened', async () => {
  const wallet = await solana.wallet({ USDC: AMOUNT, SOL: 10_000_000n })
  const url = urlOf(wallet, newRecipient())
  const { required, extra } = await ask(url)
  const payment = await payerOf(wallet).client.createPaymentPayload(required)
  await spend(wallet)

  const answer = await pay(url, payment)

  expect([answer.status, await answer.json()]).toEqual([
    402,
    expect.objectContaining({ error: expect.stringContaining('INPUT_UNAVAILABLE') }),
  ])
  expect(await isOpen(extra.operation['destination'] ?? '')).toBe(false)
})

async function spend(wallet: KeyPairSigner) {
  const [source, destination] = await Promise.all([
    accountOf(wallet.address, usdc),
    accountOf(solana.vault, usdc),
  ])
  const moved = { mint: usdc, authority: wallet, amount: 1n, decimals: 6 }
  await solana.send(getTransferCheckedInstruction({ source, destination, ...moved }))
  await until(async () => (await held(wallet.address)) < AMOUNT || undefined)
}
