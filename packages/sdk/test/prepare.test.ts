import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  type Approval,
  type Client,
  fromCallbacks,
  fromTypedData,
  intentOf,
  type OriginMethod,
  type QuoteReply,
  type SignatureLifetime,
} from '../src/index.ts'
import { evmQuote } from './evm-offer.ts'
import { change } from './service-double.ts'
import { causeOf, request, startTrader, type Trader } from './trader.ts'

let trader: Trader
beforeEach(async () => {
  trader = await startTrader()
})
afterEach(() => trader.service.close())

type Prepare = Parameters<Client['prepare']>[2]
const prepare = (options: Prepare = {}) => trader.client.prepare(request, trader.signer, options)

test('a prepared swap is signed and not submitted', async () => {
  const prepared = await prepare()

  expect(prepared).toMatchObject({ method: 'delegation', quote: { output: '9965000' }, payment: undefined })
  expect([trader.signed.hashes, trader.countOf('/swap/submit')]).toEqual([1, 0])
})

test('a prepared swap is submitted by its submission', async () => {
  const { submission } = await prepare()

  const { swapId } = await trader.client.submit(submission)

  expect(await trader.client.waitForSwap(swapId)).toMatchObject({ status: 'settled' })
})

test('a request is not prepared again while its signature can be used', async () => {
  await prepare()

  await expect(prepare()).rejects.toMatchObject({ code: 'SIGNATURE_OPEN' })
  expect(trader.signed.hashes).toBe(1)
})

/** A wallet whose owner takes time: it signs when told to. */
function createSlowWallet() {
  const answers: (() => void)[] = []
  const signTypedData = () =>
    new Promise<string>((resolve) => answers.push(() => resolve(`0x${'1'.repeat(130)}`)))
  return {
    signer: { ...trader.signer, signTypedData },
    asked: () => vi.waitFor(() => expect(answers).toHaveLength(1)),
    answer() {
      for (const answer of answers) answer()
    },
    count: () => answers.length,
  }
}

test('of two preparations of one request at once, also in two tabs, one asks the wallet', async () => {
  const signatures = new Map<string, SignatureLifetime>()
  trader.service.state.delegated = true
  const wallet = createSlowWallet()
  const tabs = [trader.clientWith({ signatures }), trader.clientWith({ signatures })]

  const both = tabs.map((client) => causeOf(client.prepare(request, wallet.signer)))
  const refused = await Promise.race(both)
  wallet.answer()

  expect(refused).toMatchObject({ code: 'SIGNATURE_OPEN' })
  expect((await Promise.all(both)).filter(Boolean)).toHaveLength(1)
  expect(wallet.count()).toBe(1)
})

test('a wallet that refused can be asked again', async () => {
  const no = new Error('No')
  const refusing = { ...trader.signer, signTypedData: () => Promise.reject(no) }

  expect(await causeOf(trader.client.prepare(request, refusing))).toBe(no)
  await prepare()

  expect(trader.signed.hashes).toBe(1)
})

test('while the wallet is asked, nobody asks it again, also if the caller has left', async () => {
  const controller = new AbortController()
  trader.service.state.delegated = true
  const wallet = createSlowWallet()

  const left = causeOf(trader.client.prepare(request, wallet.signer, { signal: controller.signal }))
  await wallet.asked()
  controller.abort('left')

  expect(await left).toBe('left')
  await expect(prepare()).rejects.toMatchObject({ code: 'SIGNATURE_OPEN' })
  wallet.answer()
  await new Promise(setImmediate)
  await prepare()
})

test('each act of the wallet is approved first, with exactly what is signed', async () => {
  const acts: [Approval, number, number][] = []

  const { build } = await prepare({
    approve: (approval) =>
      void acts.push([approval, trader.signed.nonces.length, trader.signed.hashes] as const),
  })

  const hash = build.origin === 'evm' && build.geoOpHash
  expect(acts).toMatchObject([
    [{ kind: 'authorization', fields: { chainId: request.originChain, nonce: 0 } }, 0, 0],
    [{ kind: 'operation', toSign: { hash, typedData: { primaryType: 'GeoOp' } } }, 1, 0],
  ])
})

test('an act that is not approved is not signed', async () => {
  const no = new Error('No')
  const refusing = (kind: Approval['kind']) => ({
    approve(approval: Approval) {
      if (approval.kind === kind) throw no
    },
  })

  expect(await causeOf(prepare(refusing('authorization')))).toBe(no)
  expect(trader.signed.nonces).toEqual([])
  expect(await causeOf(prepare(refusing('operation')))).toBe(no)
  expect(trader.signed.hashes).toBe(0)
})

test('an approval that comes after the caller has aborted signs nothing', async () => {
  const controller = new AbortController()
  const approvals: (() => void)[] = []
  const left = causeOf(
    prepare({
      signal: controller.signal,
      approve() {
        controller.abort('left')
        return new Promise((resolve) => approvals.push(resolve))
      },
    }),
  )

  expect(await left).toBe('left')
  for (const approve of approvals) approve()
  await new Promise(setImmediate)
  expect([trader.signed.nonces, trader.signed.hashes]).toEqual([[], 0])
})

test('a signature that was made elsewhere during the approval is the only one', async () => {
  const signatures = new Map<string, SignatureLifetime>()
  const client = trader.clientWith({ signatures })
  const plain = { ...request, walletAddress: trader.signer.address }

  const second = client.prepare(request, trader.signer, {
    approve({ kind }) {
      const life = { family: 'evm', chainId: request.originChain, opDeadline: Date.now() } as const
      if (kind === 'operation') signatures.set(intentOf(plain), life)
    },
  })

  await expect(second).rejects.toMatchObject({ code: 'SIGNATURE_OPEN' })
  expect(trader.signed.hashes).toBe(0)
})

test('a signer without typed data is asked for the hash', async () => {
  const { family, address } = trader.signer
  const hashes: string[] = []
  const approved: Approval[] = []
  const signHash = async (hash: string) => `0x${'1'.repeat(hashes.push(hash) * 130)}`
  trader.service.state.delegated = true

  await trader.client.prepare(request, fromCallbacks({ family, address, signHash }), {
    approve: (approval) => void approved.push(approval),
  })

  expect(approved).toMatchObject([{ kind: 'operation', toSign: { hash: hashes[0], typedData: undefined } }])
})

const data = {
  domain: { name: 'USDC', version: '2', chainId: 31_337, verifyingContract: request.inputToken },
  types: { EIP712Domain: [{ name: 'name', type: 'string' }], Transfer: [{ name: 'to', type: 'address' }] },
  primaryType: 'Transfer',
  message: { to: request.outputToken },
}

test('a provider and a signer of ethers are asked for the same typed data', async () => {
  const asked: unknown[] = []
  const { address } = trader.signer
  const request = async (call: object) => `signed ${asked.push(call)}`
  const signTypedData = async (...given: object[]) => `signed ${asked.push(given)}`

  const signatures = [{ request }, { signTypedData }].map((each) =>
    fromTypedData(address, each).signTypedData?.(data),
  )

  expect(await Promise.all(signatures)).toEqual(['signed 1', 'signed 2'])
  expect(asked).toEqual([
    { method: 'eth_signTypedData_v4', params: [address, JSON.stringify(data)] },
    [data.domain, { Transfer: data.types.Transfer }, data.message],
  ])
})

const { input, output, minOutput } = evmQuote
const hasOtherCode = change((reply: object) => ({ ...reply, delegationTarget: undefined }))
const offering = (...methods: readonly OriginMethod[]) =>
  change((quote: QuoteReply) => ({
    ...quote,
    originMethods: methods.map((method) => ({ method, input, output, minOutput })),
  }))

test.each([
  [
    'no signature',
    ['delegation', 'deposit'],
    [],
    'delegation (signAuthorization), deposit (sendTransaction)',
  ],
  [
    'a permit, from a wallet with other code',
    ['delegation', 'permit', 'transfer'],
    [hasOtherCode],
    'transfer (sendTransaction)',
  ],
  ['a permit alone, from a wallet with other code', ['delegation', 'permit'], [hasOtherCode], 'any way'],
  ['no way but the delegation', ['delegation'], [], 'delegation (signAuthorization)'],
] as const)(
  'a wallet that signs typed data alone is refused at the quote for a token that takes %s',
  async (_, methods, faults, ways) => {
    trader.service.next('/swap/quote', offering(...methods))
    trader.service.next('/swap/delegation', ...faults)
    const signer = fromTypedData(trader.signer.address, { request: async () => '0x' })

    const refused = await causeOf(trader.client.prepare(request, signer))

    expect(refused).toMatchObject({ code: 'SIGNER', message: `This signer cannot pay by ${ways}.` })
    expect(trader.countOf('/swap/build-geo-op')).toBe(0)
  },
)
