import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient, refusalOf, refusedFields } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import { createWorld, until } from '../world.ts'

const local = inject('local')
const { alpha, beta } = createWorld(local)
const solana = local.chains.find((chain) => chain.family === 'solana')

let api: CheckedClient
beforeAll(async () => {
  api = createCheckedClient({ ...local, apiKey: await createOperator(inject('databaseUrl')).createKey() })
  await until(async () => (await api.chains()).body.chains.every(({ available }) => available))
})

describe('GET /swap/chains', () => {
  test('lists the chains of both families with their own coins', async () => {
    const { body, headers } = await api.chains()

    expect(headers.get('ratelimit')).toMatch(/^"other";/)
    const coins = { alpha: 'ETH 18', beta: 'ETH 18', solana: 'SOL 9' }
    expect(
      Object.fromEntries(
        body.chains.map(({ name, native }) => [name, `${native.symbol} ${native.decimals}`]),
      ),
    ).toEqual(coins)
    for (const { chainId, name, family, native } of body.chains) {
      const known = local.chains.find((chain) => chain.chainId === chainId)
      expect({ name, family }).toEqual({ name: known?.name, family: known?.family })
      expect(native.address).toBe(known?.tokens.find(({ symbol }) => symbol === native.symbol)?.address)
    }
  })
})

describe('GET /swap/tokens', () => {
  test('lists every token of every chain, with the decimals of its own chain', async () => {
    const { tokens } = (await api.tokens()).body

    const listed = tokens.map(({ chainId, symbol, address, decimals }) => ({
      ...{ chainId, symbol, address, decimals },
    }))
    const known = local.chains.flatMap(({ chainId, tokens }) =>
      tokens.map((token) => ({ chainId, ...token })),
    )
    expect(listed).toHaveLength(known.length)
    expect(listed).toEqual(expect.arrayContaining(known))
  })

  test('of one chain: Solana has its coin and the tokens of both token programs', async () => {
    const { tokens } = (await api.tokens(solana?.chainId)).body

    expect(tokens.map(({ symbol, asset, native }) => `${symbol} ${asset} ${native}`).sort()).toEqual([
      ...['GEO GEO false', 'SOL SOL true', 'USDC USDC false', 'USDG USDG false'],
    ])
    expect(tokens.every(({ chainId, input, output }) => chainId === solana?.chainId && input && output)).toBe(
      true,
    )
    expect(tokens.find(({ symbol }) => symbol === 'USDC')?.priceUsd).toBe('1.00')
  })

  test('maxOutput can be quoted, and one unit more is 422 INSUFFICIENT_LIQUIDITY', async () => {
    const readMost = async () => {
      const { tokens } = (await api.tokens(beta.chainId)).body
      return BigInt(tokens.find(({ symbol }) => symbol === 'GEO')?.maxOutput ?? 0)
    }
    const quote = async (amount: bigint) =>
      refusalOf(
        await api.quote({
          ...{ originChain: alpha.chainId, destinationChain: beta.chainId, tradeType: 'exactOutput' },
          ...{ inputToken: alpha.token('ETH'), outputToken: beta.token('GEO'), amount: `${amount}` },
          walletAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        }),
      )

    // A swap of an earlier test may end between two calls and change it.
    const replies = await until(async () => {
      const most = await readMost()
      const found = [await quote(most), await quote(most + 1n)]
      return (await readMost()) === most && found
    })

    expect(replies).toEqual(['200 OK', '422 INSUFFICIENT_LIQUIDITY'])
  })

  test('422 UNSUPPORTED_CHAIN for an unsupported chain', async () => {
    const reply = await api.tokens(5)

    expect(refusalOf(reply)).toBe('422 UNSUPPORTED_CHAIN')
    expect(reply.body.details).toMatchObject({ supported: local.chains.map(({ chainId }) => chainId) })
  })
})

describe('both', () => {
  test.each(['/swap/chains', '/swap/tokens'])('401 without a key or with a wrong one: %s', async (path) => {
    const wrong = { 'x-api-key': 'gsk_local_nobody' }

    expect(refusalOf(await api.send({ method: 'GET', path }))).toBe('401 MISSING_API_KEY')
    expect(refusalOf(await api.send({ method: 'GET', path, headers: wrong }))).toBe('401 INVALID_API_KEY')
  })

  test.each([
    ['/swap/chains?chainId=31337', 'chainId'],
    ['/swap/tokens?chain=31337', 'chain'],
    ['/swap/tokens?chainId=alpha', 'chainId'],
  ])('400 INVALID_REQUEST for %s', async (path, field) => {
    const reply = await api.call<object>('GET', path)

    expect(refusalOf(reply)).toBe('400 INVALID_REQUEST')
    expect(refusedFields(reply)).toEqual([field])
  })
})
