import { geoEscrowAbi } from '@geoswap/protocol'
import type { BuildGeoOpReply, OriginMethod } from '@geoswap/wire'
import { concat, decodeFunctionData, encodeFunctionData, type Hex, pad } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient, refusalOf } from '../checked-client.ts'
import { delegatedWallet, delegateTo, setCode } from '../instant-wallet.ts'
import { createOperator } from '../operator.ts'
import { buildBy, digestOf, pay, signBuild, submitBy } from '../ways.ts'
import { createWorld, outcomeOf, prepare, quoteOnceSettled, toRequest, until } from '../world.ts'

const local = inject('local')
const world = createWorld(local)
const { alpha, beta } = world
const operator = createOperator(inject('databaseUrl'))
const USDC = 1_000_000n
const OUT = 10n ** 18n
const order = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: 10n * USDC }

// Accepts every signature that begins with the hash: a wallet whose rules no key explains (ERC-1271).
const CONTRACT_WALLET = '0x60043560643514631626ba7e60e01b025f5260205ff3'

// The same, but only without a gas price: in simulations, and never in a block.
const SIMULATED_WALLET = '0x60043560643514631626ba7e60e01b023a15025f5260205ff3'

let api: CheckedClient
beforeAll(async () => {
  api = createCheckedClient({ ...local, apiKey: await operator.createKey() })
})

const newWallet = () => privateKeyToAccount(generatePrivateKey())

const funded = () => world.walletWith(alpha, 'USDC', 10n * USDC)

test('the typed data of the op is as good a signature as its hash', async () => {
  const wallet = await delegatedWallet(alpha)
  await world.fund(alpha, wallet.address, 'USDC', 10n * USDC)
  const { build } = await prepare({ api }, wallet, order)

  const signature = await signBuild(wallet, build)
  const { body } = await api.submit({ geoOpToken: build.geoOpToken, signature })

  expect((await outcomeOf({ api }, body.swapId)).status).toBe('settled')
})

test('a quote has a price for each way, and delegation costs least', async () => {
  const wallet = await delegatedWallet(alpha)

  const { originMethods = [], output } = await quoteOnceSettled(api, toRequest(wallet, order))

  expect(originMethods.map(({ method }) => method)).toEqual([
    'delegation',
    'authorization',
    'permit',
    'deposit',
    'transfer',
  ])
  expect(originMethods[0]?.output).toBe(output)
  expect(originMethods.every((way) => BigInt(way.output) <= BigInt(output))).toBe(true)
})

test('the catalog says which ways a token has', async () => {
  const { body } = await api.tokens(alpha.chainId)

  const ways = Object.fromEntries(body.tokens.map(({ symbol, originMethods }) => [symbol, originMethods]))
  expect(ways).toMatchObject({
    ETH: ['delegation', 'deposit', 'transfer'],
    USDC: ['delegation', 'authorization', 'permit', 'deposit', 'transfer'],
    WETH: ['delegation', 'deposit', 'transfer'],
  })
})

describe.each(['authorization', 'permit'] as const)('by %s', (method) => {
  test('a new wallet swaps with one signature, no gas and no delegation', async () => {
    const wallet = await funded()

    const { swapId, quote } = await submitBy({ api }, wallet, { order, method })
    const ended = await outcomeOf({ api }, swapId)

    expect(ended).toMatchObject({ status: 'settled', method })
    expect(await alpha.codeOf(wallet.address)).toBe('0x')
    expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(0n)
    const way = quote.originMethods?.find((each) => each.method === method)
    expect(await beta.balanceOf(wallet.address, 'USDC')).toBe(BigInt(way?.output ?? 0))
  })

  test('422 INVALID_SIGNATURE for a signature of the op itself, of another wallet, or too long', async () => {
    const wallet = await funded()
    const { build } = await buildBy({ api }, wallet, { order, method })
    const { geoOpToken } = build
    const stranger = newWallet()

    const wrong = [
      await wallet.signMessage({ message: { raw: build.geoOpHash as Hex } }),
      await signBuild(stranger, build),
      '0x',
      `0x${'11'.repeat(1_025)}`,
    ]

    for (const signature of wrong)
      expect(refusalOf(await api.submit({ geoOpToken, signature }))).toBe('422 INVALID_SIGNATURE')
    expect(refusalOf(await api.submit({ geoOpToken }))).toBe('400 INVALID_REQUEST')
  })

  test('a wallet that is short of the input is told at the build', async () => {
    const wallet = await world.walletWith(alpha, 'USDC', 9n * USDC)
    const quote = await quoteOnceSettled(api, toRequest(wallet, order))

    const reply = await api.build({ geoQuoteToken: quote.geoQuoteToken, method })

    expect(refusalOf(reply)).toBe('422 INSUFFICIENT_BALANCE')
  })

  test('a swap whose input left the wallet before the lock fails, and nothing is taken', async () => {
    const wallet = await funded()
    await alpha.halt()
    const { swapId } = await submitBy({ api }, wallet, { order, method })
    await pay(alpha, wallet.address, { to: beta.contracts.vault, symbol: 'USDC', amount: USDC })
    await alpha.resume()

    const ended = await outcomeOf({ api }, swapId)

    expect(ended).toMatchObject({ status: 'failed', failure: { code: 'INPUT_UNAVAILABLE' } })
  })
})

test('twenty authorizations are locked in one transaction, except one that went bad in the same block', async () => {
  const batch = await buildBatch(20)
  // Nothing is locked while the destination stands still.
  await beta.halt()
  await until(async () => (await api.quote(toRequest(newWallet(), order))).status === 503)
  const replies = await Promise.all(batch.map(({ submission }) => api.submit(submission)))
  await alpha.halt()
  await beta.resume()
  await alpha.untilPending(alpha.contracts.escrow)
  const [bad] = batch
  if (!bad) throw new Error('Twenty were built')
  await cancelAuthorization(bad.wallet, bad.build)
  await alpha.mine()
  await alpha.resume()

  const ended = await Promise.all(replies.map(({ body }) => outcomeOf({ api }, body.swapId)))

  const [failed, ...settled] = ended
  expect(failed).toMatchObject({ status: 'failed', failure: { code: 'INVALID_AUTHORIZATION' } })
  expect(await alpha.balanceOf(bad.wallet.address, 'USDC')).toBe(10n * USDC)
  expect(settled.map(({ status }) => status)).toEqual(settled.map(() => 'settled'))
  expect(new Set(settled.map(({ originTxHash }) => originTxHash)).size).toBe(1)
  const [lock] = settled
  const hash = lock?.originTxHash as Hex
  const { to, input } = await alpha.client.getTransaction({ hash })
  const call = decodeFunctionData({ abi: geoEscrowAbi, data: input })
  expect([to?.toLowerCase(), call.functionName]).toEqual([
    alpha.contracts.escrow.toLowerCase(),
    'lockManyWithAuthorization',
  ])
  expect(call.args?.[0]).toHaveLength(20)
})

/** Signed authorizations of new wallets whose inputs one relayer takes. */
async function buildBatch(size: number) {
  const built: Built[] = []
  const lockerOf = ({ build }: Built) => (build.operation.message as { locker: string }).locker
  for (;;) {
    built.push(...(await Promise.all(Array.from({ length: size }, buildOne))))
    for (const first of built) {
      const mates = built.filter((each) => lockerOf(each) === lockerOf(first))
      if (mates.length >= size) return mates.slice(0, size)
    }
  }
}

async function buildOne(): Promise<Built> {
  const wallet = await funded()
  const { build } = await buildBy({ api }, wallet, { order, method: 'authorization' })
  return {
    ...{ wallet, build },
    submission: { geoOpToken: build.geoOpToken, signature: await signBuild(wallet, build) },
  }
}

type Built = {
  wallet: PrivateKeyAccount
  build: BuildGeoOpReply
  submission: { geoOpToken: string; signature: Hex }
}

describe('wallets with code', () => {
  test('a contract wallet swaps by an authorization that its own code accepts', async () => {
    const wallet = newWallet()
    await setCode(alpha, wallet.address, CONTRACT_WALLET)
    await world.fund(alpha, wallet.address, 'USDC', 10n * USDC)
    const recipient = newWallet().address
    const { build } = await buildBy({ api }, wallet, {
      order: { ...order, recipient },
      method: 'authorization',
    })

    const signature = concat([digestOf(build), pad('0x01', { size: 100 })])
    const { body } = await api.submit({ geoOpToken: build.geoOpToken, signature })

    expect((await outcomeOf({ api }, body.swapId)).status).toBe('settled')
  })

  test('a contract wallet that accepts in simulations only costs no gas, and keeps its input', async () => {
    const wallet = newWallet()
    await setCode(alpha, wallet.address, SIMULATED_WALLET)
    await world.fund(alpha, wallet.address, 'USDC', 10n * USDC)
    const recipient = newWallet().address
    const { build } = await buildBy({ api }, wallet, {
      order: { ...order, recipient },
      method: 'authorization',
    })

    const signature = concat([digestOf(build), '0x00'])
    const { body } = await api.submit({ geoOpToken: build.geoOpToken, signature })
    const ended = await outcomeOf({ api }, body.swapId)

    expect(ended).toMatchObject({ status: 'failed', failure: { code: 'INPUT_UNAVAILABLE' } })
    expect(await operator.query('select 1 from attempt_swaps where swap_id = $1', [body.swapId])).toEqual([])
    expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(10n * USDC)
  })

  test('a wallet delegated to another provider keeps its code and swaps by an authorization', async () => {
    const provider = newWallet().address
    await setCode(alpha, provider, CONTRACT_WALLET)
    const wallet = await funded()
    await delegateTo(alpha, wallet.address, provider)
    const code = await alpha.codeOf(wallet.address)
    const quote = await quoteOnceSettled(api, toRequest(wallet, order))

    const refused = await api.build({ geoQuoteToken: quote.geoQuoteToken })
    expect(refusalOf(refused)).toBe('422 UNSUPPORTED_DELEGATION')
    expect(refused.body.recovery).toMatchObject({ methods: ['authorization', 'deposit', 'transfer'] })
    const permit = await api.build({ geoQuoteToken: quote.geoQuoteToken, method: 'permit' })
    expect(refusalOf(permit)).toBe('422 UNSUPPORTED_METHOD')

    const { body: build } = await api.build({ geoQuoteToken: quote.geoQuoteToken, method: 'authorization' })
    const signature = concat([digestOf(build), '0x00'])
    const { body } = await api.submit({ geoOpToken: build.geoOpToken, signature })

    expect((await outcomeOf({ api }, body.swapId)).status).toBe('settled')
    expect(await alpha.codeOf(wallet.address)).toBe(code)
  })
})

test('409 NEEDS_DELEGATION names the other ways', async () => {
  const wallet = await funded()
  const quote = await quoteOnceSettled(api, toRequest(wallet, order))

  const reply = await api.build({ geoQuoteToken: quote.geoQuoteToken })

  expect(refusalOf(reply)).toBe('409 NEEDS_DELEGATION')
  expect(reply.body.recovery).toMatchObject({ methods: ['authorization', 'permit', 'deposit', 'transfer'] })
})

test.each<[OriginMethod, string]>([
  ['authorization', 'ETH'],
  ['permit', 'WETH'],
])('422 UNSUPPORTED_METHOD: %s moves no %s', async (method, sell) => {
  const wallet = await world.walletWith(alpha, sell, OUT)
  const quote = await quoteOnceSettled(
    api,
    toRequest(wallet, { ...order, sell, buy: sell, amount: OUT / 10n }),
  )

  const reply = await api.build({ geoQuoteToken: quote.geoQuoteToken, method })

  expect(refusalOf(reply)).toBe('422 UNSUPPORTED_METHOD')
  expect(reply.body.recovery).toMatchObject({ methods: ['delegation', 'deposit', 'transfer'] })
})

test('410 QUOTE_EXPIRED: a quote that was built by one way is not built by another', async () => {
  const wallet = await funded()
  const { quote } = await buildBy({ api }, wallet, { order, method: 'permit' })

  const reply = await api.build({ geoQuoteToken: quote.geoQuoteToken, method: 'authorization' })

  expect(refusalOf(reply)).toBe('410 QUOTE_EXPIRED')
})

test('an authorization that the wallet cancelled is not paid for', async () => {
  const wallet = await funded()
  await alpha.halt()
  const { swapId, build } = await submitBy({ api }, wallet, { order, method: 'authorization' })
  await cancelAuthorization(wallet, build)
  await alpha.resume()

  const ended = await outcomeOf({ api }, swapId)

  expect(ended).toMatchObject({ status: 'failed', failure: { code: 'INVALID_AUTHORIZATION' } })
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(10n * USDC)
})

/** The wallet takes back its authorization, ahead of all other pending transactions. */
async function cancelAuthorization(wallet: PrivateKeyAccount, build: BuildGeoOpReply): Promise<void> {
  const { domain } = build.typedData as { domain: Record<string, unknown> }
  const nonce = build.geoOpHash as Hex
  const signature = await wallet.signTypedData({
    domain,
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: wallet.address, nonce },
  })
  const abi = [
    {
      ...{ type: 'function', name: 'cancelAuthorization', outputs: [], stateMutability: 'nonpayable' },
      inputs: [{ type: 'address' }, { type: 'bytes32' }, { type: 'bytes' }],
    },
  ] as const
  const data = encodeFunctionData({
    abi,
    functionName: 'cancelAuthorization',
    args: [wallet.address, nonce, signature],
  })
  await alpha.as(newWallet().address, { to: alpha.token('USDC'), data })
}
