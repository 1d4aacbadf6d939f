import { expect, test } from 'vitest'
import type { Catalog, CatalogChain, ChainNow, Market, Side, Token } from '../../swap/catalog.ts'
import type { Venue } from '../../swap/venue.ts'
import { createInventory } from '../../venues/inventory/inventory.ts'
import { listChains, listTokens } from './list.ts'

const now: ChainNow = {
  seconds: 1,
  block: 1n,
  height: 1n,
  costs: { lock: 1n, firstLock: 1n, delivery: 1n, purchase: 1n, gasPrice: 1n },
}

function chainOf(chainId: number, native: Omit<Token, 'chainId'>, tokens: Omit<Token, 'chainId'>[]) {
  const coin = { chainId, ...native }
  return {
    chainId,
    name: `chain-${chainId}`,
    family: chainId === 3 ? 'solana' : 'evm',
    native: coin,
    tokens: [coin, ...tokens.map((token) => ({ chainId, ...token }))],
    ownAddresses: [],
    maxAmount: 1n,
    finality: { accept: [{ depth: 1 }], settle: 1, reorgWindowSeconds: 4, hard: 4, hardSeconds: 4 },
    blockSeconds: 1,
  } satisfies CatalogChain
}

const ETH = { address: '0x0', symbol: 'ETH', decimals: 18, asset: 'ETH' }
const SOL = { address: '111', symbol: 'SOL', decimals: 9, asset: 'SOL' }
const USDC = { address: '0xusdc', symbol: 'USDC', decimals: 6, asset: 'USDC' }
const chains = [chainOf(1, ETH, [USDC]), chainOf(3, SOL, [])]
const catalog: Catalog = { chains: new Map(chains.map((chain) => [chain.chainId, chain])), assets: new Map() }

const notServed = { venue: 'pool', why: 'notServed' as const }

type Facts = {
  dead?: number[]
  dry?: Side[]
  unpriced?: string[]
  held?: Record<string, bigint>
  more?: Venue[]
  stopped?: string[]
  late?: boolean
  attestersChangeAt?: number
}

function depsWith(facts: Facts = {}) {
  const {
    dead = [],
    dry = [],
    unpriced = [],
    held = { '1:0xusdc': 7n },
    more = [],
    stopped = [],
    late = false,
  } = facts
  const market: Market = {
    chainNow: (chainId) =>
      dead.includes(chainId)
        ? undefined
        : {
            ...now,
            ...(late && { finalitySeconds: 10 ** 6 }),
            ...(facts.attestersChangeAt && {
              attesterChange: {
                kind: 'proposed' as const,
                since: facts.attestersChangeAt,
                members: [],
                threshold: 0,
              },
            }),
          },
    canSend: (_chainId, side) => !dry.includes(side),
    mostInput: () => 10n ** 30n,
    exposureRoom: () => 10n ** 30n,
    exchangeOf: (...assets) =>
      assets.some((asset) => unpriced.includes(asset)) ? undefined : { input: 1n, output: 1n },
    priceOf: (asset) => (unpriced.includes(asset) ? undefined : 1_500_000_000_000_000_000n),
    available: (chainId, token) => held[`${chainId}:${token}`],
  }
  const inventory = createInventory([{ kind: 'inventory', impactBps: 0 }], {
    market,
    shareOf: (amount) => amount,
  })
  const isStopped = ({ chainId, asset }: { chainId: number; asset?: string }) =>
    stopped.includes(String(chainId)) || stopped.includes(`${chainId}:${asset}`)
  return { catalog, market, venues: [inventory, ...more], isStopped }
}

const flagsOf = (facts: Facts, chainId = 1) =>
  listTokens(depsWith(facts), { chainId }).tokens.map(
    ({ symbol, input, output, maxOutput, priceUsd }) =>
      `${symbol} ${input ? 'in' : '-'} ${output ? 'out' : '-'} ${maxOutput ?? '-'} ${priceUsd ?? '-'}`,
  )

test('a chain is listed with its family and its native coin', () => {
  expect(listChains(depsWith()).chains).toEqual([
    {
      chainId: 1,
      caip: { chainId: 'eip155:1', native: 'eip155:1/erc20:0x0' },
      name: 'chain-1',
      family: 'evm',
      available: true,
      native: { symbol: 'ETH', address: '0x0', decimals: 18 },
    },
    {
      chainId: 3,
      caip: { chainId: 'solana:3', native: 'solana:3/token:111' },
      name: 'chain-3',
      family: 'solana',
      available: true,
      native: { symbol: 'SOL', address: '111', decimals: 9 },
    },
  ])
})

test('a chain that stands still, or whose coin has no price, is not available and says why', () => {
  const { chains } = listChains(depsWith({ dead: [1], unpriced: ['ETH', 'SOL'] }))

  expect(chains.map(({ available, reason }) => [available, reason])).toEqual([
    [false, 'CHAIN_UNAVAILABLE'],
    [false, 'PRICE_UNAVAILABLE'],
  ])
})

test('a chain says when its attesters change', () => {
  const [chain] = listChains(depsWith({ attestersChangeAt: 1_800_000_000 })).chains

  expect(chain).toMatchObject({ available: true, attesterChangeAt: '2027-01-15T08:00:00.000Z' })
})

test('a chain whose finality takes more than three times as long as usual is not available', () => {
  const { chains } = listChains(depsWith({ late: true }))

  expect(chains.map(({ reason }) => reason)).toEqual(['CHAIN_UNAVAILABLE', 'CHAIN_UNAVAILABLE'])
})

test('a token with a fresh price is an input, and a deliverable one is an output', () => {
  expect(flagsOf({})).toEqual(['ETH in - - 1.50', 'USDC in out 7 1.50'])
})

test('a chain whose keys have no gas takes no inputs, or delivers nothing', () => {
  expect(flagsOf({ dry: ['destination'] })).toEqual(['ETH in - - 1.50', 'USDC in - - 1.50'])
  expect(flagsOf({ dry: ['origin'] })).toEqual(['ETH - - - 1.50', 'USDC - out 7 1.50'])
  const { chains } = listChains(depsWith({ dry: ['origin', 'destination'] }))
  expect(chains.map(({ reason }) => reason)).toEqual(['CHAIN_UNAVAILABLE', 'CHAIN_UNAVAILABLE'])
})

test('the venue that can deliver most counts, also for a token without a price', () => {
  const one = { decimals: 6, price: 10n ** 18n }
  const curve = { kind: 'points' as const, input: one, sold: one, points: [{ sold: 9n, bought: 8n }] }
  const offer = { venue: 'pool', curve, deliveryCost: 1n, payToken: '0xusdc' }
  const pool: Venue = { name: 'pool', offer: ({ output }) => (output.symbol === 'USDC' ? offer : notServed) }

  expect(flagsOf({ more: [pool] })[1]).toBe('USDC in out 8 1.50')
  expect(flagsOf({ more: [pool], held: { '1:0xusdc': 9n } })[1]).toBe('USDC in out 9 1.50')
  expect(flagsOf({ more: [pool], unpriced: ['USDC'] })[1]).toBe('USDC - out 8 -')
  expect(flagsOf({ more: [pool], dead: [1] })[1]).toBe('USDC - - - 1.50')
})

test('a token without a price is neither input nor output', () => {
  expect(flagsOf({ unpriced: ['USDC'] })).toEqual(['ETH in - - 1.50', 'USDC - - - -'])
})

test('no token of a chain that cannot be quoted is available, whatever is held of it', () => {
  expect(flagsOf({ dead: [1] })).toEqual(['ETH - - - 1.50', 'USDC - - - 1.50'])
  expect(flagsOf({ unpriced: ['ETH'] })).toEqual(['ETH - - - -', 'USDC - - - 1.50'])
})

test('without a chain the tokens of all chains are listed, and native coins are marked', () => {
  const { tokens } = listTokens(depsWith(), {})

  expect(tokens.map(({ chainId, symbol, native }) => [chainId, symbol, native])).toEqual([
    [1, 'ETH', true],
    [1, 'USDC', false],
    [3, 'SOL', true],
  ])
})

test('422 UNSUPPORTED_CHAIN for an unknown chain, with the supported ones', () => {
  const list = () => listTokens(depsWith(), { chainId: 5 })

  expect(list).toThrow(
    expect.objectContaining({
      code: 'UNSUPPORTED_CHAIN',
      message: 'chainId 5 is not served here. Supported chains: 1, 3.',
      details: { field: 'chainId', supported: [1, 3] },
    }),
  )
})

test('a stopped chain is listed as not available with all of its tokens, and so is a stopped token', () => {
  const [first] = listChains(depsWith({ stopped: ['1'] })).chains

  expect(first).toMatchObject({ available: false, reason: 'CHAIN_UNAVAILABLE' })
  expect(flagsOf({ stopped: ['1'] })).toEqual(['ETH - - - 1.50', 'USDC - - - 1.50'])
  expect(flagsOf({ stopped: ['1:USDC'] })).toEqual(['ETH in - - 1.50', 'USDC - - - 1.50'])
})

test('a closed token can be neither paid nor bought, and says why', () => {
  const [first] = chains
  if (!first) throw new Error('No chain')
  const whyClosed = (address: string) => (address === '0xusdc' ? 'it has 9 decimals, not 6' : undefined)
  const closed = { ...catalog, chains: new Map([[1, { ...first, whyClosed }]]) }

  const { tokens } = listTokens({ ...depsWith(), catalog: closed }, {})

  expect(tokens.map(({ symbol, input, output, closed }) => [symbol, input, output, closed])).toEqual([
    ['ETH', true, false, undefined],
    ['USDC', false, false, 'it has 9 decimals, not 6'],
  ])
})
