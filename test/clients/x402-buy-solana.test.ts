import { isPaid, startSeller } from '@geoswap/sdk/test/x402-seller'
import { type SolanaSeller, startSolanaSeller } from '@geoswap/sdk/test/x402-solana-seller'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { createCli } from '../cli.ts'
import { createOperator } from '../operator.ts'
import { createSolanaWorld } from '../solana-world.ts'
import { createWorld, quoteOnceSettled, toRequest, until } from '../world.ts'

const apiKey = await createOperator(inject('databaseUrl')).createKey()
const local = { ...inject('local'), apiKey }
const world = createWorld(local)
const { alpha, beta } = world
const solana = await createSolanaWorld(local)
const rpcUrl = local.chains.find(({ family }) => family === 'solana')?.rpcUrl ?? ''
const usdc = solana.token('USDC')
const cli = await createCli(local)
const PRICE = 250_000n
const held = (owner: string) => solana.balanceOf(owner, usdc)
let seller: SolanaSeller

beforeAll(async () => {
  const order = { from: alpha, to: beta, sell: 'USDC', buy: 'USDC', amount: 10_000_000n }
  await quoteOnceSettled(world.api, toRequest({ address: privateKeyToAddress(generatePrivateKey()) }, order))
})
beforeEach(async () => {
  seller = await startSolanaSeller(solana, rpcUrl, PRICE)
})
afterEach(() => seller.stop())
afterAll(() => cli.remove())

let wallets = 0

/** A new wallet of the command line. */
async function createWallet(family: 'evm' | 'solana'): Promise<{ name: string; address: string }> {
  const name = `payer${++wallets}`
  const { reply } = await cli.json('wallet', 'create', name, '--family', family)
  return { name, address: reply.address }
}

async function createPayer(amount: bigint) {
  const wallet = await createWallet('solana')
  if (amount > 0n) await solana.fund(wallet.address, 'USDC', amount)
  return wallet
}

const pay = (wallet: string, ...more: string[]) =>
  cli.json('pay', seller.url, '--wallet', wallet, '--max-usd', '2', ...more)

test('a wallet that holds the token pays what the seller asks, without SOL, and gets the answer', async () => {
  const { name, address } = await createPayer(3n * PRICE)

  const { code, reply } = await pay(name)
  const plain = await cli.run('pay', seller.url, '--wallet', name, '--max-usd', '0.25')

  expect([code, reply]).toMatchObject([0, { status: 200, body: '{"report":"fine"}' }])
  expect(reply.payment).toMatchObject({
    ...{ chainId: solana.chainId, amount: `${PRICE}`, payTo: seller.payTo },
    transaction: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/),
  })
  expect(plain.stdout).toBe('{"report":"fine"}')
  expect([await held(address), await seller.earned()]).toEqual([PRICE, 2n * PRICE])
})

test('a wallet whose money is on alpha swaps exactly the price to Solana, and pays', async () => {
  const { name, address } = await createPayer(0n)
  const source = await createWallet('evm')
  await world.fund(alpha, source.address as `0x${string}`, 'USDC', 5_000_000n)

  const { code, reply } = await pay(name, '--from', 'alpha:USDC', '--from-wallet', source.name)
  const swap = await cli.json('status', reply.swapId)

  expect([code, reply.body]).toEqual([0, '{"report":"fine"}'])
  expect(swap.reply).toMatchObject({ status: 'settled', amounts: { delivered: `${PRICE}` } })
  expect([await held(address), await seller.earned()]).toEqual([0n, PRICE])
})

test('a run that was killed while it paid is continued with the same payment', async () => {
  const { name, address } = await createPayer(3n * PRICE)
  seller.act = (request, _response, next) => (isPaid(request) ? undefined : next())
  await killWhilePaying(name)
  seller.act = (_request, _response, next) => next()

  const { code } = await pay(name)

  expect([code, new Set(seller.payments).size]).toEqual([0, 1])
  expect([await held(address), await seller.earned()]).toEqual([2n * PRICE, PRICE])
})

test('a run that was killed between payment and answer is not paid again unless somebody says so', async () => {
  const { name, address } = await createPayer(3n * PRICE)
  seller.act = (request, response, next) => {
    if (isPaid(request)) response.end = () => undefined
    next()
  }
  await killWhilePaying(name, async () => (await seller.earned()) === PRICE)
  seller.act = (_request, _response, next) => next()

  const same = await pay(name)
  const before = await held(address)
  const again = await pay(name, '--again')

  expect(same.reply.error).toMatchObject({ code: 'X402_TAKEN', payment: 'taken' })
  expect([before, again.code, await held(address)]).toEqual([2n * PRICE, 0, PRICE])
})

async function killWhilePaying(wallet: string, isPaying = async () => seller.payments.length > 0) {
  const { child, ended } = cli.start(['pay', seller.url, '--wallet', wallet, '--max-usd', '2'])
  await until(isPaying)
  child.kill('SIGKILL')
  await ended
}

test('a seller that raises its price after the swap gets nothing', async () => {
  const { name, address } = await createPayer(0n)
  const source = await createWallet('evm')
  await world.fund(alpha, source.address as `0x${string}`, 'USDC', 5_000_000n)
  seller.act = (_request, _response, next) => {
    if (seller.asked > 1) seller.price = 2n * PRICE
    next()
  }

  const { reply } = await pay(name, '--from', 'alpha:USDC', '--from-wallet', source.name)

  expect(reply.error).toMatchObject({ code: 'X402_CHANGED', payment: 'none', swapId: /^swp_/ })
  expect([seller.payments, await held(address), await seller.earned()]).toEqual([[], PRICE, 0n])
})

test('of offers on both families of chains the cheapest is paid', async () => {
  const node = local.chains.find(({ chainId }) => chainId === beta.chainId)?.rpcUrl ?? ''
  const onBeta = await startSeller(beta, node, 10n ** 18n)
  const [{ accepts: evm }, demand] = [await demandOf(onBeta.url), await demandOf(seller.url)]
  await onBeta.stop()
  for (const side of ['beta:USDC', 'solana:USDC'])
    await cli.json('faucet', side, '--amount', '5', '--wallet', 'local')
  const shownFor = async (cents: bigint) => {
    const accepts = [{ ...evm[0], amount: `${cents * 10n ** 16n}` }, demand.accepts[0]]
    const header = Buffer.from(JSON.stringify({ ...demand, accepts })).toString('base64')
    seller.act = (_request, response) => response.status(402).set('payment-required', header).end()
    return (await pay('local', '--dry-run')).reply.payment.chainId
  }

  expect([await shownFor(24n), await shownFor(26n)]).toEqual([beta.chainId, solana.chainId])
})

type Demand = { accepts: object[] }

async function demandOf(url: string): Promise<Demand> {
  const { headers } = await fetch(url)
  return JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString())
}

test('a model pays on Solana after its user agreed', async () => {
  const { name } = await createPayer(2n * PRICE)
  const client = new Client({ name: 'test', version: '1' })
  const args = [cli.program, 'mcp', '--wallets', name]
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: cli.env, stderr: 'ignore' }),
  )
  const call = (more: object = {}) =>
    client.callTool({ name: 'pay_x402', arguments: { url: seller.url, ...more } })

  const asked = await call()
  const { confirmation } = asked.structuredContent as { confirmation: { confirmationToken: string } }
  const paid = await call({ confirmationToken: confirmation.confirmationToken })
  await client.close()

  expect(asked.structuredContent).toMatchObject({ outcome: 'confirmation_required', payTo: seller.payTo })
  expect(paid.structuredContent).toMatchObject({
    ...{ outcome: 'paid', answer: { status: 200, sellerSays: '{"report":"fine"}' } },
  })
  expect(await seller.earned()).toBe(PRICE)
})
