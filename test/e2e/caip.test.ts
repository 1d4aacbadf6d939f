import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient, refusalOf, refusedFields } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import { createSolanaWorld, type SolanaWorld } from '../solana-world.ts'
import { authorize, createWorld, outcomeOf, quoteOnceSettled, toRequest } from '../world.ts'

const local = inject('local')
const world = createWorld(local)
const { alpha, beta } = world
const USDC = 1_000_000n
const [onAlpha, onBeta, onSolana] = ['eip155:31337', 'eip155:31338', 'solana:31339']

let api: CheckedClient
let solana: SolanaWorld
beforeAll(async () => {
  api = createCheckedClient({ ...local, apiKey: await createOperator(inject('databaseUrl')).createKey() })
  solana = await createSolanaWorld(local)
})

const namedBy = (walletAddress: string) => ({
  ...{ originChain: onAlpha, inputToken: `${onAlpha}/erc20:${alpha.token('USDC')}` },
  ...{ destinationChain: onBeta, outputToken: `${onBeta}/erc20:${beta.token('USDC')}` },
  ...{ walletAddress: `${onAlpha}:${walletAddress}`, recipient: `${onBeta}:${walletAddress}` },
})

describe('CAIP ids', () => {
  test('a swap named by them, of the whole balance, settles; status and history answer them', async () => {
    const wallet = await world.walletWith(alpha, 'USDC', 12_345_678n)

    const quote = await quoteOnceSettled(api, { ...namedBy(wallet.address), amount: 'max' })
    const authorization = await authorize(api, wallet, alpha.chainId)
    const { body: build } = await api.build({ geoQuoteToken: quote.geoQuoteToken, authorization })
    const signature = await wallet.signMessage({ message: { raw: build.geoOpHash as `0x${string}` } })
    const { body: submitted } = await api.submit({ geoOpToken: build.geoOpToken, signature })
    const swap = await outcomeOf({ api }, submitted.swapId)
    const history = await api.call<{ swaps: { caip: object }[] }>(
      'GET',
      `/swap/history?wallet=${encodeURIComponent(`${onAlpha}:${wallet.address}`)}`,
    )
    const elsewhere = await api.call<{ swaps: object[] }>(
      'GET',
      `/swap/history?wallet=${onBeta}:${wallet.address}`,
    )

    expect(quote.input).toBe('12345678')
    expect(swap).toMatchObject({
      ...{ status: 'settled', originChain: 31337 },
      caip: { originChain: onAlpha, destinationChain: onBeta },
    })
    expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(0n)
    const { walletAddress, recipient, inputToken, outputToken } = namedBy(wallet.address)
    const chains = { originChain: onAlpha, destinationChain: onBeta }
    expect(history.body.swaps.map(({ caip }) => caip)).toEqual([
      { ...chains, walletAddress, recipient, inputToken, outputToken },
    ])
    expect(elsewhere.body.swaps).toEqual([])
  })

  test('chains, tokens and delegations are asked for and answered by them', async () => {
    const wallet = privateKeyToAddress(generatePrivateKey())

    const chains = (await api.chains()).body.chains.map(({ caip }) => caip)
    const tokens = await api.call<{ tokens: { caip: object }[] }>('GET', `/swap/tokens?chainId=${onSolana}`)
    const asked = `chainId=${onAlpha}&walletAddress=${onAlpha}:${wallet}`
    const delegation = await api.call<object>('GET', `/swap/delegation?${asked}`)

    expect(chains).toEqual([
      { chainId: onAlpha, native: `${onAlpha}/slip44:60` },
      { chainId: onBeta, native: `${onBeta}/slip44:60` },
      { chainId: onSolana, native: `${onSolana}/slip44:501` },
    ])
    expect(tokens.body.tokens.map(({ caip }) => caip)).toContainEqual({
      ...{ chainId: onSolana, address: `${onSolana}/token:${solana.token('USDC')}` },
    })
    expect(delegation.body).toMatchObject({
      ...{ chainId: 31337, walletAddress: wallet },
      caip: { chainId: onAlpha, walletAddress: `${onAlpha}:${wallet}` },
    })
  })

  const wallet = privateKeyToAddress(generatePrivateKey())
  test.each([
    [{ walletAddress: `${onBeta}:${wallet}` }, 'walletAddress'],
    [{ recipient: `${onAlpha}:${wallet}` }, 'recipient'],
    [{ inputToken: `${onBeta}/erc20:${beta.token('USDC')}` }, 'inputToken'],
    [{ outputToken: `${onBeta}/slip44:501` }, 'outputToken'],
  ])('400 INVALID_REQUEST for %j, an id of another chain, names the field alone', async (change, field) => {
    const reply = await api.quote({ ...namedBy(wallet), amount: `${USDC}`, ...change })

    expect(refusalOf(reply)).toBe('400 INVALID_REQUEST')
    expect(refusedFields(reply)).toEqual([field])
  })

  test.each(['eip155:1', 'solana:31337', 'eip155:31339', 'cosmos:cosmoshub-4'])(
    '422 UNSUPPORTED_CHAIN for %s',
    async (originChain) => {
      const reply = await api.quote({ ...namedBy(wallet), amount: `${USDC}`, originChain })

      expect(refusalOf(reply)).toBe('422 UNSUPPORTED_CHAIN')
    },
  )

  test('400 INVALID_REQUEST for an account of another chain than the query names', async () => {
    const asked = `chainId=31338&walletAddress=${onAlpha}:${wallet}`

    expect(refusedFields(await api.call('GET', `/swap/delegation?${asked}`))).toEqual(['walletAddress'])
  })
})

describe('amount: "max"', () => {
  const route = { from: alpha, sell: 'ETH', to: beta, buy: 'USDC', amount: 1n }

  test('is the balance of the native coin too, since the service pays the gas', async () => {
    const wallet = await world.walletWith(alpha, 'ETH', 10n ** 17n + 3n)

    const quote = await quoteOnceSettled(api, { ...toRequest(wallet, route), amount: 'max' })

    expect(quote.input).toBe(`${10n ** 17n + 3n}`)
  })

  test('is the balance on Solana', async () => {
    const wallet = await solana.wallet({ SOL: 10n ** 9n })
    const recipient = privateKeyToAddress(generatePrivateKey())
    const order = { from: solana, sell: 'SOL', to: beta, buy: 'USDC', amount: 1n, recipient }

    const quote = await quoteOnceSettled(api, { ...toRequest(wallet, order), amount: 'max' })

    expect(quote.input).toBe(`${10n ** 9n}`)
  })

  test('422 INSUFFICIENT_BALANCE for a wallet that holds nothing, by name and chain', async () => {
    const wallet = privateKeyToAccount(generatePrivateKey())

    const reply = await api.quote({ ...toRequest(wallet, { ...route, sell: 'USDC' }), amount: 'max' })

    expect(refusalOf(reply)).toBe('422 INSUFFICIENT_BALANCE')
    expect(reply.body.message).toContain('holds no USDC on alpha')
    expect(reply.body.recovery).toMatchObject({ action: 'FUND_WALLET', balance: '0' })
  })

  test('400 INVALID_REQUEST with exactOutput', async () => {
    const wallet = privateKeyToAccount(generatePrivateKey())
    const order = { ...route, tradeType: 'exactOutput' as const }

    const reply = await api.quote({ ...toRequest(wallet, order), amount: 'max' })

    expect(refusedFields(reply)).toEqual(['amount'])
  })
})

test('amounts in messages have a unit, and both numbers where a machine needs the raw one', async () => {
  const wallet = privateKeyToAccount(generatePrivateKey())
  const order = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC' }

  const small = await api.quote(toRequest(wallet, { ...order, amount: 1n }))
  const large = await api.quote(toRequest(wallet, { ...order, amount: 10n ** 18n }))
  const { geoQuoteToken } = await quoteOnceSettled(api, toRequest(wallet, { ...order, amount: 10n * USDC }))
  const authorization = await authorize(api, wallet, alpha.chainId)
  const unfunded = await api.build({ geoQuoteToken, authorization })

  expect(small.body.message).toMatch(/at least [\d.,]+ USDC \(\d+\)\.$/)
  expect(small.body.message).toContain(`(${small.body.recovery?.['minAmount']})`)
  expect(large.body.message).toMatch(/at most [\d.,]+ USDC \(\d+\)\.$/)
  expect(unfunded.body.message).toBe('The wallet holds 0 USDC on alpha and the swap takes 10 USDC.')
})
