import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  createClient,
  fromCallbacks,
  fromKitSigner,
  fromViemAccount,
  fromViemWallet,
  type KnownContracts,
  type SwapProgress,
} from '@geoswap/sdk'
import { generateKeyPairSigner } from '@solana/kit'
import { createWalletClient, http } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { beforeAll, expect, inject, test } from 'vitest'
import { createApiClient } from '../client.ts'
import { createOperator } from '../operator.ts'
import { createSolanaWorld } from '../solana-world.ts'
import { pay } from '../ways.ts'
import { createWorld, quoteOnceSettled, type Side, toRequest } from '../world.ts'

const local = inject('local')
const world = createWorld(local)
const { alpha, beta } = world
const solana = await createSolanaWorld(local)
const apiKey = await createOperator(inject('databaseUrl')).createKey()
const contracts = local.pins
const client = createClient({ baseUrl: local.apiUrl, apiKey, contracts })

const USDC = 1_000_000n

function routeOf(from: Side, to: Side, tokens: { sell?: string; buy?: string } = {}) {
  const { sell = 'USDC', buy = 'USDC' } = tokens
  return {
    ...{ originChain: from.chainId, destinationChain: to.chainId },
    ...{ inputToken: from.token(sell), outputToken: to.token(buy), amount: `${10n * USDC}` },
  }
}

beforeAll(async () => {
  const anyone = { address: privateKeyToAddress(generatePrivateKey()) }
  const order = { sell: 'USDC', buy: 'USDC', amount: 10n * USDC }
  const api = createApiClient({ apiUrl: local.apiUrl, apiKey })
  await quoteOnceSettled(api, toRequest(anyone, { from: alpha, to: beta, ...order }))
  const { address: recipient } = await generateKeyPairSigner()
  await quoteOnceSettled(api, toRequest(anyone, { from: alpha, to: solana, ...order, recipient }))
})

test('a new wallet without gas swaps from EVM to EVM, and signs one authorization for two swaps', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 20n * USDC)
  const steps: SwapProgress['step'][] = []
  const onProgress = ({ step }: SwapProgress) => steps.push(step)

  const first = await client.swap(routeOf(alpha, beta), fromViemAccount(wallet), { onProgress })
  const second = await client.swap(routeOf(alpha, beta), fromViemAccount(wallet), { onProgress })

  expect([first.status, second.status]).toEqual(['settled', 'settled'])
  expect(steps.filter((step) => step === 'authorizing')).toHaveLength(1)
  expect(steps.slice(0, 6)).toEqual(['quoted', 'authorizing', 'built', 'signing', 'submitting', 'submitted'])
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(0n)
  const delivered = BigInt(first.amounts.delivered ?? 0) + BigInt(second.amounts.delivered ?? 0)
  expect(await beta.balanceOf(wallet.address, 'USDC')).toBe(delivered)
})

test('an EVM wallet pays a recipient on Solana', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 10n * USDC)
  const { address: recipient } = await generateKeyPairSigner()

  const swap = await client.swap({ ...routeOf(alpha, solana), recipient }, fromViemAccount(wallet))

  expect(swap.status).toBe('settled')
  expect(await solana.balanceOf(recipient, solana.token('USDC'))).toBe(BigInt(swap.amounts.delivered ?? 0))
})

test.each(['USDC', 'USDG', 'SOL'])('a Solana wallet pays %s for USDC on EVM', async (sell) => {
  const wallet = await solana.wallet({ [sell]: 10n * USDC })
  const recipient = privateKeyToAddress(generatePrivateKey())

  const request = { ...routeOf(solana, alpha, { sell }), recipient }
  const swap = await client.swap(request, fromKitSigner(wallet))

  expect(swap.status).toBe('settled')
  expect(await alpha.balanceOf(recipient, 'USDC')).toBe(BigInt(swap.amounts.delivered ?? 0))
})

test('with exactOutput the recipient gets the requested amount', async () => {
  const wallet = await world.walletWith(beta, 'ETH', 10n ** 18n)
  const route = routeOf(beta, alpha, { sell: 'ETH' })

  const swap = await client.swap({ ...route, tradeType: 'exactOutput' }, fromViemAccount(wallet), {
    maxInput: 10n ** 17n,
  })

  expect(swap.amounts).toMatchObject({ delivered: `${10n * USDC}`, minOutput: `${10n * USDC}` })
})

test('a wallet swaps its whole balance by CAIP ids', async () => {
  const wallet = await world.walletWith(alpha, 'ETH', 10n ** 17n)
  const request = {
    ...{ originChain: 'eip155:31337', inputToken: 'eip155:31337/slip44:60', amount: 'max' },
    ...{ destinationChain: 'eip155:31338', outputToken: `eip155:31338/erc20:${beta.token('USDC')}` },
    recipient: `eip155:31338:${wallet.address}`,
  }

  const swap = await client.swap(request, fromViemAccount(wallet))

  expect(swap).toMatchObject({ status: 'settled', amounts: { input: `${10n ** 17n}` } })
  expect(await alpha.balanceOf(wallet.address, 'ETH')).toBe(0n)
})

test('an interrupted swap is resumed by its id, or by its submission', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 10n * USDC)
  const controller = new AbortController()
  const seen: SwapProgress[] = []
  const onProgress = (progress: SwapProgress) => {
    seen.push(progress)
    if (progress.step === 'submitted') controller.abort(new Error('enough'))
  }

  const left = client.swap(routeOf(alpha, beta), fromViemAccount(wallet), {
    ...{ onProgress, signal: controller.signal },
  })
  await expect(left).rejects.toThrow('enough')
  const submitted = seen.find(({ step }) => step === 'submitted') as { swapId: string }
  const submitting = seen.find((each) => each.step === 'submitting')
  const resumed = await client.resume(submitted.swapId)
  const again = submitting && (await client.resume(submitting.submission))

  expect(resumed).toMatchObject({ swapId: submitted.swapId, status: 'settled' })
  expect(again).toEqual(resumed)
})

test('401 INVALID_API_KEY reaches the caller with all fields of the reply', async () => {
  const stranger = createClient({ baseUrl: local.apiUrl, apiKey: 'gsk_unknown' })

  const refusal = stranger.chains()

  await expect(refusal).rejects.toMatchObject({
    ...{ name: 'GeoswapError', code: 'INVALID_API_KEY', status: 401, retryable: false },
    ...{ recovery: { action: 'CHECK_API_KEY' }, requestId: expect.stringMatching(/^req_/) },
  })
})

test('a price impact beyond the limit, and an unconfirmed quote, end before anything is signed', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 10n * USDC)
  const signer = { ...fromViemAccount(wallet), signHash: () => Promise.reject(new Error('signed')) }

  const limits = [{ maxPriceImpactBps: 0 }, { confirm: () => false }]
  const refusals = limits.map((limit) => client.swap(routeOf(alpha, beta), signer, limit))

  const codes = (await Promise.allSettled(refusals)).map((each) => 'reason' in each && each.reason.code)
  expect(codes).toEqual(['PRICE_IMPACT', 'DECLINED'])
})

test('422 INSUFFICIENT_BALANCE of an empty wallet reaches the caller', async () => {
  const wallet = await solana.wallet()
  const recipient = privateKeyToAddress(generatePrivateKey())

  const empty = client.swap({ ...routeOf(solana, alpha), recipient }, fromKitSigner(wallet))

  await expect(empty).rejects.toMatchObject({ code: 'INSUFFICIENT_BALANCE', status: 422 })
})

test('404 SWAP_NOT_FOUND of an unknown swap ends the wait', async () => {
  const unknown = client.waitForSwap('swp_unknown')

  await expect(unknown).rejects.toMatchObject({ code: 'SWAP_NOT_FOUND', status: 404 })
})

test('an escrow, delegate or vault other than the known ones is refused', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 10n * USDC)
  const other = privateKeyToAddress(generatePrivateKey())
  const withKnown = (chainId: number, known: object) => {
    const pins = { ...contracts, [chainId]: { ...contracts[chainId], ...known } }
    return createClient({ baseUrl: local.apiUrl, apiKey, contracts: pins })
  }
  const fieldsOf = (chainId: number, known: object) =>
    withKnown(chainId, known)
      .swap(routeOf(alpha, beta), fromViemAccount(wallet))
      .catch(({ differences }) => differences.map(({ field }: { field: string }) => field))

  expect(await fieldsOf(alpha.chainId, { account: other })).toEqual(['delegationTarget'])
  expect(await fieldsOf(alpha.chainId, { escrow: other })).toEqual(['domain.verifyingContract'])
  expect(await fieldsOf(beta.chainId, { vault: other })).toEqual(['delivery.vault'])
})

test('contracts that were not named are verified on the chain, once, and others are refused', async () => {
  const [wallet, second] = [
    await world.walletWith(alpha, 'USDC', 10n * USDC),
    await world.walletWith(alpha, 'USDC', 10n * USDC),
  ]
  const kept = new Map<number, KnownContracts>()
  const pins = {
    get: (chainId: number) => kept.get(chainId),
    set: (chainId: number, pin: KnownContracts) => void kept.set(chainId, pin),
  }
  const rpcUrls = Object.fromEntries(local.chains.map(({ chainId, rpcUrl }) => [chainId, rpcUrl]))
  const unaided = createClient({ baseUrl: local.apiUrl, apiKey })
  const verifying = createClient({ baseUrl: local.apiUrl, apiKey, rpcUrls, pins })
  const pinned = createClient({ baseUrl: local.apiUrl, apiKey, pins })

  const refusal = unaided.swap(routeOf(alpha, beta), fromViemAccount(wallet))
  await expect(refusal).rejects.toMatchObject({ code: 'UNPINNED' })
  const first = await verifying.swap(routeOf(alpha, beta), fromViemAccount(wallet))
  const next = await pinned.swap(routeOf(alpha, beta), fromViemAccount(second))

  expect([first.status, next.status]).toEqual(['settled', 'settled'])
  expect([...kept]).toEqual([[alpha.chainId, alpha.contracts]])
  const thiefs = withAttackersDelegate(alpha.token('USDC'))
  const third = await world.walletWith(alpha, 'USDC', 10n * USDC)
  const theft = createClient({ baseUrl: local.apiUrl, apiKey, rpcUrls, fetch: thiefs })
  await expect(theft.swap(routeOf(alpha, beta), fromViemAccount(third))).rejects.toMatchObject({
    ...{ code: 'TAMPERED_OPERATION', differences: [{ field: 'account' }] },
  })
})

/** A service that names an attacker's contract to delegate to. */
function withAttackersDelegate(delegationTarget: string): typeof fetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    if (!String(url).includes('/swap/delegation')) return response
    return Response.json({ ...((await response.json()) as object), delegationTarget })
  }
}

test('chains and tokens are listed', async () => {
  const { chains } = await client.chains()
  const { tokens } = await client.tokens({ chainId: solana.chainId })

  expect(chains.map(({ chainId }) => chainId)).toContain(alpha.chainId)
  expect(new Set(tokens.map(({ chainId }) => chainId))).toEqual(new Set([solana.chainId]))
})

test('the quickstart is part of the example, which settles', async () => {
  const [example, readme] = await Promise.all(
    ['examples/sdk-swap.mjs', 'packages/sdk/README.md'].map((file) => readFile(file, 'utf8')),
  )
  const [, quickstart = 'none'] = /```js\nimport .*\n\n([\s\S]*?)```/.exec(readme ?? '') ?? []
  const folder = await mkdtemp(join(tmpdir(), 'geoswap-example-'))
  const file = join(folder, 'local.json')
  await writeFile(file, JSON.stringify(local))

  const run = ['--import', 'tsx', 'examples/sdk-swap.mjs', file]
  const { stdout } = await promisify(execFile)(process.execPath, run)
  await rm(folder, { recursive: true })

  expect(example).toContain(quickstart)
  expect(JSON.parse(stdout)).toMatchObject({ status: 'settled' })
})

test('a signer without EIP-7702 swaps by an authorization, and by a permit if asked for', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 20n * USDC)
  const { signAuthorization: _, ...signer } = fromViemAccount(wallet)
  const methods: unknown[] = []
  const onProgress = (progress: SwapProgress) => progress.step === 'quoted' && methods.push(progress.method)

  const first = await client.swap(routeOf(alpha, beta), signer, { onProgress })
  const second = await client.swap(routeOf(alpha, beta), signer, { method: 'permit', onProgress })

  expect([first, second]).toMatchObject([
    { status: 'settled', method: 'authorization' },
    { status: 'settled', method: 'permit' },
  ])
  expect(methods).toEqual(['authorization', 'permit'])
  expect(await alpha.codeOf(wallet.address)).toBe('0x')
})

test('a wallet that only sends swaps a token that takes no signature for another asset, and sends once', async () => {
  const amount = 10n ** 16n
  const account = await world.walletWith(alpha, 'WETH', 2n * amount)
  await alpha.client.setBalance({ address: account.address, value: 10n ** 18n })
  const { rpcUrl } = local.chains.find(({ name }) => name === 'alpha') ?? {}
  const wallet = fromViemWallet(createWalletClient({ account, transport: http(rpcUrl) }))
  const signer = { ...wallet, signAuthorization: undefined, signTypedData: undefined }
  const request = { ...routeOf(alpha, beta, { sell: 'WETH', buy: 'GEO' }), amount: `${amount}` }

  const prepared = await client.prepare(request, signer)
  const { swapId, txHash } = await client.pay(prepared, signer)
  await client.pay(prepared, signer).catch(() => 'It was asked before')
  const ended = await client.waitForSwap(swapId)

  expect(ended).toMatchObject({ status: 'settled', method: 'transfer', deposit: { txHash } })
  expect(await alpha.balanceOf(account.address, 'WETH')).toBe(amount)
})

test('a deposit is swapped whoever pays it, and a signer that can send pays it itself', async () => {
  const owner = privateKeyToAddress(generatePrivateKey())
  const payer = await world.walletWith(alpha, 'USDC', 20n * USDC)
  const request = { ...routeOf(alpha, beta), walletAddress: owner }

  const opened = await client.deposit(request)
  const payment = { symbol: 'USDC', amount: BigInt(opened.amount) }
  await pay(alpha, payer.address, { to: opened.depositAddress, ...payment })
  const ended = await client.waitForSwap(opened.swapId)
  const sent = await client.swap(
    routeOf(alpha, beta),
    fromCallbacks({
      ...{
        family: 'evm',
        address: payer.address,
        signHash: () => Promise.reject(new Error('It signs nothing')),
      },
      async sendPayment({ to, amount }) {
        await pay(alpha, payer.address, { to, symbol: 'USDC', amount })
        return ''
      },
    }),
  )

  expect([ended, sent]).toMatchObject([
    { status: 'settled', method: 'deposit' },
    { status: 'settled', method: 'deposit' },
  ])
})
