import { depositAddressOf } from '@geoswap/protocol'
import { stub } from '@geoswap/protocol/test/stub'
import type { BuildGeoOpReply, QuoteReply } from '@geoswap/wire'
import { encodeFunctionData, erc20Abi, type Hex, type WalletClient } from 'viem'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bestMethod, type Client, type EvmSigner, fromViemWallet, type SwapProgress } from '../src/index.ts'
import { nowSeconds, origin } from './evm-offer.ts'
import { change } from './service-double.ts'
import { causeOf, request, startTrader, type Trader } from './trader.ts'

let trader: Trader
beforeEach(async () => {
  trader = await startTrader()
})
afterEach(() => trader.service.close())

const priced = { input: '10000000', output: '9965000', minOutput: '9915175' }

/** The next quote and its build offer a transfer, until this time. */
function offerTransfer(until = nowSeconds() + 60) {
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
const lost = () => Promise.reject(new Error('The connection to the wallet was lost'))

test('a wallet that only sends is asked for the transfer to the address of the op, after the submission', async () => {
  const { signer, asked } = sender()
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
    await causeOf(trader.client.pay(swap, signer))

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

    expect(await causeOf(trader.client.pay(swap, signer, { signal: controller.signal }))).toBe('left')
    await expect(trader.client.pay(swap, signer)).rejects.toMatchObject({ code: 'PAYMENT_ASKED' })
    expect(asked).toHaveLength(1)
  })
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
  const late = await prepared(signer, trader.clientWith({}), nowSeconds())
  await expect(trader.client.pay(late, signer)).rejects.toMatchObject({ code: 'PAYMENT_LATE' })
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
      sendTransaction: async (transaction: unknown) => `0x${sent.push(transaction)}`,
    })
  const transaction: Sent = { chainId: 5, to: '0xto' as Hex, data: '0x', value: 7n }

  test('sends the transaction on its chain', async () => {
    const sent: unknown[] = []

    expect(await fromViemWallet(clientOn(5, sent)).sendTransaction?.(transaction)).toBe('0x1')
    expect(sent).toMatchObject([{ to: '0xto', data: '0x', value: 7n }])
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
