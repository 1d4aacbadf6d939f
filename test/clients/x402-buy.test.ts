import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createClient, fromViemAccount } from '@geoswap/sdk'
import { isPaid, type Seller, startSeller } from '@geoswap/sdk/test/x402-seller'
import { payX402 } from '@geoswap/sdk/x402'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { createCli } from '../cli.ts'
import { createOperator } from '../operator.ts'
import { patience } from '../patience.ts'
import { createWorld, quoteOnceSettled, toRequest, until } from '../world.ts'
import { usdcUrl } from '../x402.ts'

const apiKey = await createOperator(inject('databaseUrl')).createKey()
const local = { ...inject('local'), apiKey }
const world = createWorld(local)
const { alpha, beta } = world
const cli = await createCli(local)
const rpcUrls = Object.fromEntries(local.chains.map(({ chainId, rpcUrl }) => [chainId, rpcUrl]))
const UNIT = 10n ** 18n
const PRICE = UNIT / 4n
// Until the server has noticed that its host gave up.
const CANCELLED_MS = 2_000 * patience
let seller: Seller

beforeAll(async () => {
  const anyone = { address: privateKeyToAddress(generatePrivateKey()) }
  const order = { from: alpha, to: beta, sell: 'USDC', buy: 'USDC', amount: 10_000_000n }
  await quoteOnceSettled(world.api, toRequest(anyone, order))
})
beforeEach(async () => {
  seller = await startSeller(beta, rpcUrls[beta.chainId] ?? '', PRICE)
})
afterEach(() => seller.stop())
afterAll(() => cli.remove())

let wallets = 0

/** A new wallet of the command line that holds this much USDC on a chain. */
async function createWallet(chain: typeof alpha, amount: bigint): Promise<string> {
  const key = generatePrivateKey()
  await world.fund(chain, privateKeyToAddress(key), 'USDC', amount)
  return importWallet(key)
}

async function importWallet(key: Hex): Promise<string> {
  const name = `payer${++wallets}`
  const file = join(mkdtempSync(join(tmpdir(), 'geoswap-key-')), 'key')
  writeFileSync(file, key)
  await cli.json('wallet', 'import', name, '--file', file)
  rmSync(dirname(file), { recursive: true })
  return name
}

const pay = (wallet: string, ...more: string[]) =>
  cli.json('pay', seller.url, '--wallet', wallet, '--max-usd', '2', ...more)

test('a wallet that holds the token pays what the seller asks, and gets the answer', async () => {
  const wallet = await createWallet(beta, UNIT)

  const { code, reply } = await pay(wallet)
  const plain = await cli.run('pay', seller.url, '--wallet', wallet, '--max-usd', '0.25')

  expect([code, reply]).toMatchObject([0, { status: 200, body: '{"report":"fine"}' }])
  expect(reply.payment).toMatchObject({ amount: `${PRICE}`, payTo: seller.payTo, transaction: /^0x/ })
  expect(reply.swapId).toBeUndefined()
  expect(plain.stdout).toBe('{"report":"fine"}')
  expect(plain.stderr).toContain('the seller says: "A report"')
  expect(await seller.earned()).toBe(2n * PRICE)
})

test('a wallet whose money is on another chain swaps exactly the price, and pays', async () => {
  const wallet = await createWallet(alpha, 5_000_000n)

  const { code, reply } = await pay(wallet)
  const swap = await cli.json('status', reply.swapId)

  expect([code, reply.body]).toEqual([0, '{"report":"fine"}'])
  expect(swap.reply).toMatchObject({ status: 'settled', amounts: { delivered: `${PRICE}` } })
  expect(await seller.earned()).toBe(PRICE)
})

test('the service itself is paid after a swap to what it asks for', async () => {
  const key = generatePrivateKey()
  const address = privateKeyToAddress(key)
  const wallet = await importWallet(key)
  await world.fund(alpha, address, 'USDC', 5_000_000n)
  const url = usdcUrl(local.apiUrl, { from: beta, to: alpha, wallet: { address }, amount: UNIT })

  const { code, reply } = await cli.json('pay', url, '--wallet', wallet, '--max-usd', '2')

  expect([code, JSON.parse(reply.body)]).toMatchObject([0, { status: 'settled', method: 'payment' }])
  expect(reply.swapId).toMatch(/^swp_/)
  expect(await beta.balanceOf(address, 'USDC')).toBe(0n)
})

test('money on Solana pays a seller on an EVM chain', async () => {
  const payer = await createWallet(beta, 1n)
  await cli.json('wallet', 'create', 'sun', '--family', 'solana')
  await cli.json('faucet', 'solana:USDC', '--amount', '5', '--wallet', 'sun')

  const { code, reply } = await pay(payer, '--from', 'solana:USDC', '--from-wallet', 'sun')

  expect([code, reply.body]).toEqual([0, '{"report":"fine"}'])
  expect(reply.swapId).toMatch(/^swp_/)
  expect(await seller.earned()).toBe(PRICE)
})

test('a seller that raises its price after the swap gets nothing, and the next run shows the new price', async () => {
  const wallet = await createWallet(alpha, 5_000_000n)
  seller.act = (_request, _response, next) => {
    if (seller.asked > 1) seller.price = 2n * PRICE
    next()
  }

  const { code, reply } = await pay(wallet)
  const shown = await cli.json('pay', seller.url, '--wallet', wallet, '--dry-run')

  expect([code, reply.error]).toMatchObject([1, { code: 'X402_CHANGED', payment: 'none', swapId: /^swp_/ }])
  expect(shown.reply.payment).toMatchObject({ amount: `${2n * PRICE}` })
  expect([seller.payments, await seller.earned()]).toEqual([[], 0n])
})

test('a payment that is not answered is sent again by the same command, and never a second one', async () => {
  const wallet = await createWallet(beta, UNIT)
  seller.act = (request, response, next) => (isPaid(request) ? response.destroy() : next())

  const silent = await pay(wallet)
  seller.act = (_request, _response, next) => next()
  const again = await pay(wallet)
  const another = await pay(wallet)

  expect(silent.reply.error).toMatchObject({
    ...{ code: 'X402_NO_ANSWER', payment: 'open', advice: expect.stringContaining('signs no other one') },
  })
  expect([again.code, another.code]).toEqual([0, 0])
  expect(seller.payments[1]).toBe(seller.payments[0])
  expect(seller.payments[2]).not.toBe(seller.payments[0])
  expect(await seller.earned()).toBe(2n * PRICE)
})

test('a run that was killed while it paid is continued with the same payment', async () => {
  const wallet = await createWallet(beta, UNIT)
  seller.act = (request, _response, next) => (isPaid(request) ? undefined : next())
  const killed = cli.start(['pay', seller.url, '--wallet', wallet, '--max-usd', '2'])
  await until(async () => seller.payments.length > 0)
  const meanwhile = await pay(wallet)
  killed.child.kill('SIGKILL')
  await killed.ended
  seller.act = (_request, _response, next) => next()

  const { code } = await pay(wallet)

  expect(meanwhile.reply.error.code).toBe('PAYMENT_IN_FLIGHT')
  expect(code).toBe(0)
  expect(new Set(seller.payments).size).toBe(1)
  expect(await seller.earned()).toBe(PRICE)
})

test('a payment that was taken and not answered is not paid again unless somebody says so', async () => {
  const wallet = await createWallet(beta, UNIT)
  seller.act = (request, response, next) => {
    if (isPaid(request)) response.end = (() => response.destroy()) as typeof response.end
    next()
  }
  const taken = await pay(wallet)
  const same = await pay(wallet)
  seller.act = (_request, _response, next) => next()

  const answered = await pay(wallet, '--again')

  expect(taken.reply.error).toMatchObject({ code: 'X402_NO_ANSWER', payment: 'taken' })
  expect(same.reply.error).toMatchObject({ code: 'X402_TAKEN', advice: expect.stringContaining('--again') })
  expect(answered.code).toBe(0)
  expect(await seller.earned()).toBe(2n * PRICE)
})

test('a price above the limit, a redirect and an error are not paid', async () => {
  const wallet = await createWallet(beta, UNIT)

  const tooMuch = await cli.json('pay', seller.url, '--wallet', wallet, '--max-usd', '0.24')
  const unasked = await cli.json('pay', seller.url, '--wallet', wallet)
  seller.act = (_request, response) => response.redirect('https://attacker.example/')
  const moved = await pay(wallet)
  seller.act = (_request, response) => response.status(500).end()
  const failed = await pay(wallet)

  const codes = [tooMuch, unasked, moved, failed].map(({ reply }) => reply.error.code)
  expect(codes).toEqual(['NEEDS_CONFIRMATION', 'NEEDS_CONFIRMATION', 'X402_REDIRECT', 'X402_FAILED'])
  expect(seller.payments).toEqual([])
})

test('a demand that is hostile costs nothing, and its code says which', async () => {
  const wallet = await createWallet(beta, UNIT)
  const payTo = seller.payTo
  const offer = {
    ...{ scheme: 'exact', network: `eip155:${beta.chainId}`, asset: beta.token('USDC'), amount: `${PRICE}` },
    ...{ payTo, maxTimeoutSeconds: 60, extra: { name: 'Another', version: '2' } },
  }
  const headerOf = (accepts: object[]) =>
    Buffer.from(JSON.stringify({ x402Version: 2, accepts })).toString('base64')
  const answerTo = (header: string, body: string | Buffer = '') => {
    seller.act = (_request, response) => response.status(402).set('payment-required', header).end(body)
    return pay(wallet)
  }

  const wrongDomain = await answerTo(headerOf([offer]))
  const noToken = await answerTo(headerOf([{ ...offer, asset: payTo, payTo: beta.token('USDC') }]))
  const nonsense = await answerTo('nonsense')
  const long = await answerTo(headerOf([offer]), Buffer.alloc(11_000_000))

  const errors = [wrongDomain, noToken, nonsense, long].map(({ reply }) => reply.error)
  expect(errors.map(({ code, payment }) => [code, payment])).toEqual([
    ...[...Array(2).fill('X402_UNPAYABLE'), 'X402_UNREADABLE', 'X402_TOO_LARGE'].map((code) => [
      code,
      'none',
    ]),
  ])
  expect(errors[0].reasons).toEqual([expect.stringContaining('another EIP-712 domain')])
  expect(seller.payments).toEqual([])
})

test('the SDK pays after a swap, and only what is confirmed', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 5_000_000n)
  const signer = fromViemAccount(wallet)
  const contracts = Object.fromEntries(alpha.contracts ? [[alpha.chainId, alpha.contracts]] : [])
  const client = createClient({ baseUrl: local.apiUrl, apiKey, rpcUrls, contracts })
  const sources = [{ chainId: alpha.chainId, token: alpha.token('USDC'), wallet: wallet.address }]
  const options = { payer: signer, rpcUrls, sources, signers: { [wallet.address]: signer } }

  const declined = payX402(client, seller.url, { ...options, confirm: () => false })
  await expect(declined).rejects.toMatchObject({ code: 'X402_DECLINED', standing: { payment: 'none' } })
  const answer = await payX402(client, seller.url, {
    ...options,
    confirm: ({ offer, swap }) => offer.amount === PRICE && swap?.quote.output === `${PRICE}`,
  })

  expect(new TextDecoder().decode(answer.body)).toBe('{"report":"fine"}')
  expect(answer.swap?.status).toBe('settled')
  expect(await seller.earned()).toBe(PRICE)
})

async function connectModel(wallet: string, ...more: string[]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const args = [cli.program, 'mcp', '--wallets', wallet, ...more]
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: cli.env, stderr: 'ignore' }),
  )
  return client
}

test.each([
  ['while the payment is answered', beta, 0],
  ['during the swap', alpha, 1],
])('a model whose host gives up %s repeats the call, and one payment is made', async (_, chain, swaps) => {
  const wallet = await createWallet(chain, swaps === 0 ? UNIT : 5_000_000n)
  const client = await connectModel(wallet, '--recipients', seller.payTo, '--confirm-above-usd', '50')
  const given = { name: 'pay_x402', arguments: { url: seller.url } }
  const host = new AbortController()
  seller.act = (request, _response, next) => {
    const isAnswering = isPaid(request) || (swaps > 0 && seller.asked > 1)
    if (!isAnswering || host.signal.aborted) return next()
    host.abort()
    // The cancellation arrives before the answer.
    setTimeout(next, CANCELLED_MS)
  }

  await expect(client.callTool(given, undefined, { signal: host.signal })).rejects.toThrow()
  let repeated: CallToolResult | undefined
  await until(async () => {
    repeated = (await client.callTool(given)) as CallToolResult
    return repeated.isError !== true
  })
  await client.close()

  expect(repeated?.structuredContent).toMatchObject({
    ...{ outcome: 'paid', wasPaidBefore: swaps === 0, answer: { sellerSays: '{"report":"fine"}' } },
  })
  expect([new Set(seller.payments).size, await seller.earned()]).toEqual([1, PRICE])
})

test('an answer that cannot be written to its file is shown, and one that cannot be opened is not paid', async () => {
  const wallet = await createWallet(beta, UNIT)

  const missing = await pay(wallet, '--output', join(cli.home, 'no', 'folder'))
  const unpaid = join(cli.home, 'unpaid')
  await pay(wallet, '--output', unpaid, '--max-usd', '0.01')
  const before = await seller.earned()
  const full = await pay(wallet, '--output', '/dev/full')

  expect([missing.code, missing.reply.error.code, before]).toEqual([1, 'FILE_FAILED', 0n])
  expect(existsSync(unpaid)).toBe(false)
  expect([full.code, full.reply]).toMatchObject([
    1,
    { body: '{"report":"fine"}', failure: expect.stringContaining('/dev/full was not written') },
  ])
  expect(await seller.earned()).toBe(PRICE)
})

test('an answer that is no text is base64 in JSON', async () => {
  const wallet = await createWallet(beta, UNIT)
  seller.act = (request, response, next) => (isPaid(request) ? response.end(Buffer.from([0xff, 0])) : next())

  const { reply } = await pay(wallet)

  expect(reply).toMatchObject({ status: 200, bodyBase64: '/wA=' })
  expect(reply.body).toBeUndefined()
})

test('a model pays a stranger only after its user agreed to exactly that payment', async () => {
  const wallet = await createWallet(beta, UNIT)
  const client = await connectModel(wallet)
  const call = async (more: object = {}) =>
    (await client.callTool({ name: 'pay_x402', arguments: { url: seller.url, ...more } })) as CallToolResult

  const asked = await call()
  const tooMuch = await call({ maxUsd: '0.10' })
  const before = await seller.earned()
  const { confirmation } = asked.structuredContent as { confirmation: { confirmationToken: string } }
  const { confirmationToken } = confirmation
  const paid = await call({ confirmationToken })
  const reused = await call({ confirmationToken })
  await client.close()

  expect(asked.structuredContent).toMatchObject({ outcome: 'confirmation_required', payTo: seller.payTo })
  expect(JSON.stringify(tooMuch.content)).toContain('SWAP_CAP')
  expect(before).toBe(0n)
  expect(paid.structuredContent).toMatchObject({
    ...{ outcome: 'paid', answer: { status: 200, sellerSays: '{"report":"fine"}' } },
  })
  expect(JSON.stringify(reused.content)).toContain('CONFIRMATION_INVALID')
  expect(await seller.earned()).toBe(PRICE)
})
