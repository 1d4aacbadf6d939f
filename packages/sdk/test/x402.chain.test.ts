import { type RunningChain, startChain } from '@geoswap/devnet'
import { testDollarAbi, testDollarBytecode } from '@geoswap/protocol'
import { stub } from '@geoswap/protocol/test/stub'
import {
  type Address,
  createTestClient,
  encodeDeployData,
  encodeFunctionData,
  http,
  publicActions,
  walletActions,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Client } from '../src/client.ts'
import { fromViemAccount } from '../src/signers.ts'
import type { EndedSwap } from '../src/wait.ts'
import type { X402Plan } from '../src/x402/choose.ts'
import { payX402, type X402Note, type X402Options, x402TermsOf } from '../src/x402/pay-x402.ts'
import { isPaid, type Seller, startSeller } from './x402-seller.ts'

const chainId = 31_337
const ANYONE: Address = '0x00000000000000000000000000000000000000fe'
const PRICE = 250_000n
const FAR = { chainId: 31_338, token: ANYONE }
const connect = (rpcUrl: string) =>
  createTestClient({ mode: 'hardhat', transport: http(rpcUrl), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)

let chain: RunningChain
let node: ReturnType<typeof connect>
let dollar: Address
let seller: Seller

beforeAll(async () => {
  chain = await startChain({ name: 'sellers', chainId, blockMs: 60_000 })
  node = connect(chain.rpcUrl)
  await node.setAutomine(true)
  await node.impersonateAccount({ address: ANYONE })
  await node.setBalance({ address: ANYONE, value: 10n ** 24n })
  const args = ['Dollar', 'USDC', 6] as const
  const data = encodeDeployData({ abi: testDollarAbi, bytecode: testDollarBytecode, args })
  const hash = await node.sendTransaction({ chain: null, gas: 5_000_000n, account: ANYONE, data })
  dollar = (await node.getTransactionReceipt({ hash })).contractAddress ?? ANYONE
})
beforeEach(async () => {
  const balanceOf = (owner: Address) =>
    node.readContract({ address: dollar, abi: testDollarAbi, functionName: 'balanceOf', args: [owner] })
  seller = await startSeller({ chainId, token: () => dollar, balanceOf, client: node }, chain.rpcUrl, PRICE)
})
afterEach(() => seller.stop())
afterAll(() => chain?.stop())

async function mint(owner: Address, amount: bigint): Promise<void> {
  const data = encodeFunctionData({ abi: testDollarAbi, functionName: 'mint', args: [owner, amount] })
  await node.sendTransaction({ chain: null, gas: 200_000n, account: ANYONE, to: dollar, data })
}

/** A wallet that holds this much, a service that prices tokens and quotes swaps, and a store. */
async function createPayer(held: bigint) {
  const account = privateKeyToAccount(generatePrivateKey())
  if (held > 0n) await mint(account.address, held)
  const known = [dollar, ANYONE].map((address) => ({
    ...{ address, chainId: address === dollar ? chainId : FAR.chainId, decimals: 6, priceUsd: '1.00' },
  }))
  const client = stub<Client>({
    tokens: async () => ({ tokens: known }),
    quote: async ({ amount }) => ({ input: `${BigInt(amount) + 1_000n}`, output: amount, minOutput: amount }),
  })
  const store = new Map<string, X402Note>()
  let signed = 0
  const { address, signTypedData } = fromViemAccount(account)
  const payer: X402Options['payer'] = {
    address,
    async signTypedData(typedData) {
      signed += 1
      return (await signTypedData?.(typedData)) ?? ''
    },
  }
  const base: X402Options = { payer, rpcUrls: { [chainId]: chain.rpcUrl }, store, confirm: () => true }
  return {
    ...{ account, store },
    signed: () => signed,
    pay: (more: Partial<X402Options> = {}) => payX402(client, seller.url, { ...base, ...more }),
  }
}

const settled = stub<EndedSwap>({ swapId: 'swp_1', status: 'settled' })

test('the public server is paid once, and its answer returned', async () => {
  const { pay, store, signed } = await createPayer(1_000_000n)

  const { body, transaction, payment } = await pay()

  expect(new TextDecoder().decode(body)).toBe('{"report":"fine"}')
  expect(transaction).toMatch(/^0x[0-9a-f]{64}$/)
  expect(payment && x402TermsOf(payment)).toMatchObject({ payTo: seller.payTo, amount: `${PRICE}` })
  expect([await seller.earned(), signed(), store.size]).toEqual([PRICE, 1, 0])
})

test('a payment without an answer is sent again as it is, until it is answered', async () => {
  const { pay, signed } = await createPayer(1_000_000n)
  seller.act = (request, response, next) => (isPaid(request) ? response.destroy() : next())

  const lost = pay()
  await expect(lost).rejects.toMatchObject({ code: 'X402_NO_ANSWER', standing: { payment: 'open' } })
  await expect(pay()).rejects.toMatchObject({ code: 'X402_NO_ANSWER' })
  seller.act = (_request, _response, next) => next()
  await pay()

  expect(new Set(seller.payments).size).toBe(1)
  expect([await seller.earned(), signed()]).toEqual([PRICE, 1])
})

test('a payment that was stored and not signed before a crash is signed as it was stored', async () => {
  const { pay, store } = await createPayer(1_000_000n)
  seller.act = (request, response, next) => (isPaid(request) ? response.destroy() : next())
  await expect(pay()).rejects.toMatchObject({ code: 'X402_NO_ANSWER' })
  const [[key = '', { payment } = {}] = []] = store
  if (!payment) throw new Error('Nothing was stored')
  const { signature: _, ...unsigned } = payment
  store.set(key, { payment: unsigned })
  seller.act = (_request, _response, next) => next()

  await pay()

  expect(new Set(seller.payments)).toEqual(new Set([x402TermsOf(payment).nonce]))
  expect(await seller.earned()).toBe(PRICE)
})

test('a payment that was taken and not answered is not made again, unless the caller says so', async () => {
  const { pay, signed } = await createPayer(1_000_000n)
  seller.act = (request, response, next) => {
    if (isPaid(request)) response.end = (() => response.destroy()) as typeof response.end
    next()
  }

  await expect(pay()).rejects.toMatchObject({ code: 'X402_NO_ANSWER', standing: { payment: 'taken' } })
  await expect(pay()).rejects.toMatchObject({ code: 'X402_TAKEN', standing: { payment: 'taken' } })
  seller.act = (_request, _response, next) => next()
  await pay({ again: true })

  expect([await seller.earned(), signed()]).toEqual([2n * PRICE, 2])
})

test('an unanswered payment whose time is over is forgotten, and another one signed', async () => {
  const { pay, signed } = await createPayer(1_000_000n)
  seller.act = (request, response, next) => (isPaid(request) ? response.destroy() : next())
  await expect(pay()).rejects.toMatchObject({ code: 'X402_NO_ANSWER' })
  seller.act = (_request, _response, next) => next()
  await node.increaseTime({ seconds: 600 })
  await node.mine({ blocks: 1 })

  await pay()

  expect([await seller.earned(), signed(), new Set(seller.payments).size]).toEqual([PRICE, 2, 2])
})

test('a swap brings the price first, and a seller that then asks for more gets nothing', async () => {
  const { pay, account, signed } = await createPayer(0n)
  const sources = [{ ...FAR, wallet: account.address }]
  const kept: unknown[] = []
  const swapper: X402Options['swapper'] = {
    async start({ offer, swap }, keep) {
      keep('swap')
      kept.push(swap?.quote.input)
      await mint(account.address, offer.amount)
      return settled
    },
    resume: async () => undefined,
  }
  seller.act = (_request, _response, next) => {
    if (seller.asked > 1) seller.price = 2n * PRICE
    next()
  }

  const raised = pay({ sources, swapper })
  await expect(raised).rejects.toMatchObject({
    ...{ code: 'X402_CHANGED', swapId: 'swp_1', standing: { payment: 'none' } },
  })
  seller.price = PRICE
  seller.act = (_request, _response, next) => next()
  const paid = await pay({ sources, swapper })

  expect(kept).toEqual([`${PRICE + 1_000n}`])
  expect(paid.swap).toBeUndefined()
  expect([await seller.earned(), signed()]).toEqual([PRICE, 1])
})

test('a seller with an address for each request is paid there after a swap, if that is confirmed too', async () => {
  const { pay, account, signed } = await createPayer(0n)
  const first = seller.payTo
  seller.act = (_request, _response, next) => {
    if (seller.asked === 2) seller.payTo = privateKeyToAccount(generatePrivateKey()).address
    next()
  }
  const seen: string[] = []
  const options = {
    sources: [{ ...FAR, wallet: account.address }],
    swapper: stub<X402Options['swapper'] & object>({
      async start({ offer }) {
        await mint(account.address, offer.amount)
        return settled
      },
    }),
    confirm({ offer }: X402Plan) {
      seen.push(offer.payTo)
      return offer.payTo === first
    },
  }

  const declined = pay(options)
  await expect(declined).rejects.toMatchObject({ code: 'X402_DECLINED', swapId: 'swp_1' })
  expect([seen, signed()]).toEqual([[first, seller.payTo], 0])
  await pay({ ...options, confirm: () => true })

  expect([await seller.earned(), signed()]).toEqual([PRICE, 1])
})

test('a seller whose node does not know yet what a swap delivered gets the same payment again', async () => {
  const { pay, account, signed } = await createPayer(0n)
  const swapper = stub<X402Options['swapper'] & object>({
    async start({ offer }) {
      await mint(account.address, offer.amount)
      return settled
    },
  })
  seller.act = (request, response, next) =>
    isPaid(request) && seller.payments.length < 3 ? response.status(402).end() : next()

  const { swap } = await pay({ sources: [{ ...FAR, wallet: account.address }], swapper })

  expect(swap?.status).toBe('settled')
  expect([seller.payments.length, new Set(seller.payments).size]).toEqual([3, 1])
  expect([await seller.earned(), signed()]).toEqual([PRICE, 1])
})

test('nothing is signed once the caller has left during the swap, and the next call pays once', async () => {
  const { pay, account, store, signed } = await createPayer(0n)
  const sources = [{ ...FAR, wallet: account.address }]
  const caller = new AbortController()
  const swapper: X402Options['swapper'] = {
    async start({ offer }, keep) {
      keep('swap')
      await mint(account.address, offer.amount)
      return settled
    },
    resume: async () => undefined,
  }
  seller.act = (_request, _response, next) => {
    if (seller.asked > 1) caller.abort(new Error('left'))
    setTimeout(next, 0)
  }

  await expect(pay({ sources, swapper, signal: caller.signal })).rejects.toThrow('left')
  expect([signed(), seller.payments, store.size]).toEqual([0, [], 0])
  seller.act = (_request, _response, next) => next()
  await pay({ sources, swapper })

  expect([await seller.earned(), signed()]).toEqual([PRICE, 1])
})

test('a swap that a crash interrupted is continued before another one is begun', async () => {
  const { pay, account, store } = await createPayer(0n)
  const sources = [{ ...FAR, wallet: account.address }]
  const crash = new Error('crash')
  const started: string[] = []
  const swapper: X402Options['swapper'] = {
    async start(_plan, keep) {
      keep('att_1')
      started.push('att_1')
      throw crash
    },
    async resume(left) {
      started.push(`${left} again`)
      await mint(account.address, PRICE)
    },
  }

  await expect(pay({ sources, swapper })).rejects.toBe(crash)
  await pay({ sources, swapper })

  expect(started).toEqual(['att_1', 'att_1 again'])
  expect([await seller.earned(), store.size]).toEqual([PRICE, 0])
})

test('nothing is signed for a domain that is not that of the token, or without a yes', async () => {
  const { pay, signed } = await createPayer(1_000_000n)
  const header = {
    x402Version: 2,
    accepts: [{ ...(await offerOf()), extra: { name: 'Dollars', version: '2' } }],
  }

  await expect(pay({ confirm: () => false })).rejects.toMatchObject({ code: 'X402_DECLINED' })
  seller.act = (_request, response) =>
    response
      .status(402)
      .set('payment-required', Buffer.from(JSON.stringify(header)).toString('base64'))
      .end()
  await expect(pay()).rejects.toMatchObject({
    ...{ code: 'X402_UNPAYABLE', reasons: [expect.stringContaining('another EIP-712 domain')] },
  })

  expect([signed(), seller.payments]).toEqual([0, []])
})

async function offerOf(): Promise<object> {
  const { headers } = await fetch(seller.url)
  return JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()).accepts[0]
}
