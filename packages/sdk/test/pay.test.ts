import { depositAddressOf } from '@geoswap/protocol'
import { stub } from '@geoswap/protocol/test/stub'
import type { BuildGeoOpReply, QuoteReply } from '@geoswap/wire'
import {
  createWalletClient,
  custom,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  parseTransaction,
  type WalletClient,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  bestMethod,
  type Client,
  type EvmSigner,
  fromViemWallet,
  intentOf,
  PAYMENT_MARGIN_MS,
  type SignatureLifetime,
  type StatusReply,
  type SwapProgress,
} from '../src/index.ts'
import { nowSeconds, origin } from './evm-offer.ts'
import { change, refuse } from './service-double.ts'
import { causeOf, request, startTrader, type Trader } from './trader.ts'

let trader: Trader
let settled: StatusReply
beforeEach(async () => {
  trader = await startTrader()
  settled = trader.service.state.swap
})
afterEach(() => {
  vi.useRealTimers()
  return trader.service.close()
})

const priced = { input: '10000000', output: '9965000', minOutput: '9915175' }

const awaited = (received?: string): StatusReply => ({
  ...settled,
  ...{ status: 'pending', substatus: 'awaitingDeposit' },
  deposit: { address: '0xop', received },
})

/** The next quote and its build offer a transfer, until this time. */
function offerTransfer(until = nowSeconds() + 60) {
  trader.service.state.swap = awaited()
  const originMethods = (['delegation', 'transfer'] as const).map((method) => ({ method, ...priced }))
  trader.service.next(
    '/swap/quote',
    change((quote: QuoteReply) => ({ ...quote, originMethods })),
  )
  trader.service.next(
    '/swap/build-geo-op',
    change((build: BuildGeoOpReply) => ({
      ...build,
      method: 'transfer',
      depositAddress: depositAddressOf(origin.escrow, build.geoOpHash as Hex),
      depositUntil: new Date(until * 1_000).toISOString(),
    })),
  )
}

type Sent = Parameters<NonNullable<EvmSigner['sendTransaction']>>[0]

/** Its transfer has arrived. */
async function arrived() {
  trader.service.state.swap = settled
  return '0xsent'
}

/** A wallet that only sends, and what it was asked for. */
function sender(answer: () => Promise<string> = async () => '0xsent') {
  const asked: Sent[] = []
  const signer: EvmSigner = {
    ...{ family: 'evm', address: trader.signer.address },
    signHash: () => Promise.reject(new Error('It signs nothing')),
    sendTransaction(transaction) {
      asked.push(transaction)
      return answer()
    },
  }
  return { signer, asked }
}

const prepared = (signer: EvmSigner, client: Client = trader.client, until?: number) => {
  offerTransfer(until)
  return client.prepare(request, signer)
}

const rejected = () =>
  Promise.reject(new Error('viem', { cause: Object.assign(new Error(), { code: 4001 }) }))
const LOST = 'The connection to the wallet was lost'
const lost = () => Promise.reject(new Error(LOST))

test('a wallet that only sends is asked for the transfer to the address of the op, after the submission', async () => {
  const { signer, asked } = sender(arrived)
  const steps: SwapProgress[] = []
  offerTransfer()

  const ended = await trader.client.swap(request, signer, { onProgress: (each) => steps.push(each) })

  const built = steps.find((each) => each.step === 'built')
  const hash = built?.build.origin === 'evm' ? (built.build.geoOpHash as Hex) : '0x'
  const args = [depositAddressOf(origin.escrow, hash), 10_000_000n] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  expect(ended.status).toBe('settled')
  expect(asked).toEqual([{ chainId: origin.chainId, to: request.inputToken, data, value: 0n }])
  const names = steps.map(({ step }) => step)
  expect(names.slice(2, 6)).toEqual(['submitting', 'submitted', 'paying', 'paid'])
  expect(steps).toContainEqual({ step: 'paid', txHash: '0xsent' })
})

describe('the wallet is asked once', () => {
  test('for what was prepared once', async () => {
    const { signer, asked } = sender()
    const swap = await prepared(signer)

    const paid = await trader.client.pay(swap, signer)

    expect(paid).toEqual({ swapId: 'swp_1', txHash: '0xsent' })
    await expect(trader.client.pay(swap, signer)).rejects.toMatchObject({ code: 'PAYMENT_ASKED' })
    expect(asked).toHaveLength(1)
  })

  test('if its answer was lost: it may have sent', async () => {
    const { signer, asked } = sender(lost)
    const swap = await prepared(signer)
    const error = await causeOf(trader.client.pay(swap, signer))

    expect(error).toMatchObject({ code: 'PAYMENT_UNKNOWN', swapId: 'swp_1', cause: { message: LOST } })
    await expect(trader.client.pay(swap, signer)).rejects.toMatchObject({ code: 'PAYMENT_ASKED' })
    await expect(trader.client.prepare(request, signer)).rejects.toMatchObject({ code: 'SIGNATURE_OPEN' })
    expect(asked).toHaveLength(1)
  })

  test('also by a client that begins anew with the same store', async () => {
    const { signer, asked } = sender(lost)
    const signatures = new Map()
    const swap = await prepared(signer, trader.clientWith({ signatures }))
    await causeOf(trader.clientWith({ signatures }).pay(swap, signer))

    const again = trader.clientWith({ signatures }).pay(swap, signer)

    await expect(again).rejects.toMatchObject({ code: 'PAYMENT_ASKED' })
    expect(asked).toHaveLength(1)
  })

  test('if the caller aborts meanwhile', async () => {
    const controller = new AbortController()
    const { signer, asked } = sender(() => {
      controller.abort('left')
      return new Promise(() => {})
    })
    const swap = await prepared(signer)

    const error = await causeOf(trader.client.pay(swap, signer, { signal: controller.signal }))

    expect(error).toMatchObject({ code: 'PAYMENT_UNKNOWN', swapId: 'swp_1', cause: 'left' })
    await expect(trader.client.pay(swap, signer)).rejects.toMatchObject({ code: 'PAYMENT_ASKED' })
    expect(asked).toHaveLength(1)
  })
})

/** A transfer that arrived although the wallet's answer was lost. */
const arrivedUnseen = async () => {
  await arrived()
  return lost()
}

test('a whole swap whose wallet did not answer is decided by its status', async () => {
  const { signer, asked } = sender(arrivedUnseen)
  offerTransfer()

  const ended = await trader.client.swap(request, signer)

  expect([ended.status, ended.swapId, asked.length]).toEqual(['settled', 'swp_1', 1])
})

test('a client whose store is lost asks for nothing that was sent', async () => {
  const { signer, asked } = sender()
  const swap = await prepared(signer)
  await trader.client.pay(swap, signer)

  for (const state of [awaited('1'), awaited('10000000'), { ...awaited(), substatus: 'accepted' as const }]) {
    trader.service.state.swap = state
    expect(await trader.clientWith({}).pay(swap, signer)).toEqual({ swapId: 'swp_1' })
  }
  expect(asked).toHaveLength(1)
})

describe('a wallet that was asked is asked for the same swap again', () => {
  /** The wallet was asked, did not answer, and no chain accepts the op any more. */
  async function askedAndOver(state: StatusReply) {
    const wallet = sender(lost)
    const swap = await prepared(wallet.signer)
    await causeOf(trader.client.pay(swap, wallet.signer))
    trader.service.state.swap = state
    vi.useFakeTimers({ toFake: ['Date'], now: (swap.lockableUntil + 1) * 1_000 })
    return wallet
  }
  const again = ({ signer }: { signer: EvmSigner }) => causeOf(trader.client.prepare(request, signer))
  const refused = { code: 'SIGNATURE_OPEN', swapId: 'swp_1' }

  test.each(['failed', 'refunded'] as const)('once that swap has %s', async (status) => {
    const wallet = await askedAndOver(awaited())
    offerTransfer()
    trader.service.state.swap = { ...settled, status }

    expect(await again(wallet)).toBeUndefined()
  })

  test('not while that swap goes on, nor if the service cannot say', async () => {
    const wallet = await askedAndOver(awaited())

    const early = await again(wallet)
    trader.service.next('/swap/status', refuse('SWAP_NOT_FOUND'))

    expect(early).toMatchObject(refused)
    expect(early.message).toContain('The wallet was asked to pay this swap')
    expect(await again(wallet)).toMatchObject({ ...refused, cause: { code: 'SWAP_NOT_FOUND' } })
  })

  test('not after that swap has settled, until the caller has seen that', async () => {
    const wallet = await askedAndOver(settled)

    expect(await again(wallet)).toMatchObject(refused)
    await trader.client.resume('swp_1')
    offerTransfer()

    expect(await again(wallet)).toBeUndefined()
  })
})

test('a swap that settles late leaves the note of a later one of the same request', async () => {
  const signatures = new Map<string, SignatureLifetime>()
  const intent = intentOf({ ...request, walletAddress: trader.signer.address })
  const later = { family: 'evm', chainId: request.originChain, opDeadline: nowSeconds() + 9_999 } as const
  const { signer } = sender(() => {
    signatures.set(intent, later)
    return arrived()
  })
  offerTransfer()

  await trader.clientWith({ signatures }).swap(request, signer)

  expect(signatures.get(intent)).toBe(later)
})

test('after the wallet rejected the transfer the same swap can be prepared again', async () => {
  const { signer, asked } = sender(rejected)
  const swap = await prepared(signer)

  await expect(trader.client.pay(swap, signer)).rejects.toThrow('viem')

  expect((await prepared(signer)).payment?.to).toBe(asked.length === 1 && swap.payment?.to)
})

test('nothing is sent for a swap that has ended, or too late', async () => {
  const { signer, asked } = sender()
  const ended = await prepared(signer)
  trader.service.next(
    '/swap/submit',
    change((reply) => ({ ...(reply as object), status: 'failed' })),
  )

  expect(await trader.client.pay(ended, signer)).toEqual({ swapId: 'swp_1' })
  const client = trader.clientWith({})
  const late = await prepared(signer, client, nowSeconds() + PAYMENT_MARGIN_MS / 1_000)
  await expect(client.pay(late, signer)).rejects.toMatchObject({ code: 'PAYMENT_LATE', swapId: 'swp_2' })
  expect(await prepared(signer, client)).toHaveProperty('payment')
  expect(asked).toEqual([])
})

test('a signed swap is only submitted', async () => {
  const swap = await trader.client.prepare(request, trader.signer)

  expect(await trader.client.pay(swap, trader.signer)).toEqual({ swapId: 'swp_1' })
})

describe('a wallet client of viem', () => {
  const clientOn = (chainId: number, sent: unknown[] = []) =>
    stub<WalletClient>({
      account: { address: trader.signer.address, type: 'json-rpc' },
      getChainId: async () => chainId,
      request: async ({ params: [transaction] }: { params: unknown[] }) => `0x${sent.push(transaction)}`,
    })
  const transaction: Sent = { chainId: 5, to: '0xto' as Hex, data: '0x', value: 7n }

  test('sends the transaction on its chain', async () => {
    const sent: unknown[] = []

    expect(await fromViemWallet(clientOn(5, sent)).sendTransaction?.(transaction)).toBe('0x1')
    const from = trader.signer.address
    expect(sent).toEqual([{ from, to: '0xto', data: '0x', value: '0x7', chainId: '0x5' }])
  })

  test('with a key of its own signs for that chain, whichever its node is on by then', async () => {
    const chains = ['0x5']
    const answers: Readonly<Record<string, () => unknown>> = {
      eth_chainId: () => chains.shift() ?? '0x6',
      eth_getTransactionCount: () => '0x0',
      eth_getBlockByNumber: () => ({ baseFeePerGas: '0x1', timestamp: '0x1', transactions: [] }),
      eth_maxPriorityFeePerGas: () => '0x1',
      eth_estimateGas: () => '0x5208',
    }
    const raw: Hex[] = []
    const request = async ({ method, params = [] }: { method: string; params?: Hex[] }) => {
      if (method === 'eth_sendRawTransaction') return `0x${raw.push(...params)}`
      const answer = answers[method]
      if (!answer) throw new Error('The node does not know it')
      return answer()
    }
    const account = privateKeyToAccount(generatePrivateKey())
    const signer = fromViemWallet(createWalletClient({ account, transport: custom({ request }) }))

    await signer.sendTransaction?.({ ...transaction, to: origin.escrow })

    expect(raw.map((each) => parseTransaction(each))).toMatchObject([{ chainId: 5, value: 7n }])
  })

  test('on another chain sends nothing, and can be asked again', async () => {
    const sent: unknown[] = []
    const signer = { ...fromViemWallet(clientOn(6, sent)), signTypedData: undefined }
    const swap = await prepared(signer)

    await expect(trader.client.pay(swap, signer)).rejects.toMatchObject({ code: 'SIGNER' })

    expect(await prepared(signer)).toHaveProperty('payment')
    expect(sent).toEqual([])
  })

  test('without an account is refused', () => {
    expect(() => fromViemWallet(stub<WalletClient>({ account: undefined }))).toThrow('has no account')
  })
})

describe('the best way', () => {
  const sends = { sendTransaction: async () => '' }
  const signs = { signTypedData: async () => '' }
  const pegged = ['delegation', 'authorization', 'permit', 'deposit', 'transfer'] as const
  const volatile = ['delegation', 'transfer'] as const
  const undelegated = { originReady: false, delegationTarget: origin.escrow }

  test.each([
    ['that only sends, with time for it', sends, pegged, 'deposit'],
    ['that only sends, of another pair', sends, volatile, 'transfer'],
    ['that also signs, for a token that takes no signature', { ...sends, ...signs }, volatile, 'transfer'],
    ['that also signs', { ...sends, ...signs }, pegged, 'authorization'],
    ['that sends by itself', { sendPayment: async () => '' }, volatile, 'transfer'],
    ['that can do nothing else', signs, volatile, 'delegation'],
  ])('of a wallet %s', (_, signer, methods, best) => {
    expect(bestMethod(signer, methods, undelegated)).toBe(best)
  })
})
