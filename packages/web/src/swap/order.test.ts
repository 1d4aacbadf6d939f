import type { ChainEntry, TokenEntry } from '@geoswap/sdk'
import { describe, expect, test } from 'vitest'
import { firstOrder, isServed, type Order, onChain, orderPaying, toRequest, turned } from './order.ts'

const chain = (chainId: number, name: string, family: 'evm' | 'solana') =>
  ({ chainId, name, family, available: true }) as ChainEntry
const token = (chainId: number, symbol: string, decimals: number, priceUsd: string) =>
  ({
    chainId,
    symbol,
    decimals,
    priceUsd,
    asset: symbol,
    input: true,
    output: true,
    address: `${symbol}-${chainId}`,
    native: symbol === 'ETH' || symbol === 'SOL',
  }) as TokenEntry
const catalog = {
  chains: [chain(1, 'alpha', 'evm'), chain(2, 'solana', 'solana')],
  tokens: [
    token(1, 'ETH', 18, '2500.00'),
    token(1, 'USDC', 6, '1.00'),
    token(2, 'SOL', 9, '150.00'),
    token(2, 'USDC', 6, '1.00'),
  ],
}
const owners = { evm: { address: '0xme' }, solana: { address: 'me' } }
const order = firstOrder(catalog)
const ask = (change: Partial<Order> = {}, who: Parameters<typeof toRequest>[1]['owners'] = owners) =>
  toRequest({ ...order, ...change }, { catalog, owners: who, mark: '.' })

describe('the form', () => {
  test('starts with ten dollars to the other end of the list', () => {
    expect(order).toMatchObject({ inputToken: 'USDC-1', outputToken: 'SOL-2', amount: '10' })
  })

  test("keeps the token if the new chain has it, and else takes the chain's coin", () => {
    expect(onChain(catalog, token(1, 'USDC', 6, '1.00'), 2)).toBe('USDC-2')
    expect(onChain(catalog, token(1, 'WETH', 18, '1.00'), 2)).toBe('SOL-2')
  })

  test('reversed twice is unchanged', () => {
    expect(turned(turned(order))).toEqual(order)
  })

  test('of a link pays with the named token, and never for itself', () => {
    expect(orderPaying(catalog, 1, 'ETH-1')).toMatchObject({ inputToken: 'ETH-1', outputToken: 'SOL-2' })
    expect(orderPaying(catalog, 2, 'SOL-2')).toMatchObject({ inputToken: 'SOL-2', outputToken: 'USDC-1' })
    expect(orderPaying(catalog, 1, 'gone')).toBeUndefined()
  })

  test('stored earlier is not used if its tokens are gone', () => {
    expect(isServed(order, catalog)).toBe(true)
    expect(isServed({ ...order, outputToken: 'gone' }, catalog)).toBe(false)
  })
})

describe('a request', () => {
  test('is in smallest units, from the wallet of the origin to that of the destination', () => {
    expect(ask()).toEqual({
      originChain: 1,
      destinationChain: 2,
      inputToken: 'USDC-1',
      outputToken: 'SOL-2',
      amount: '10000000',
      walletAddress: '0xme',
      recipient: 'me',
    })
  })

  test.each([
    [{ amount: '' }, 'Enter an amount.'],
    [{ amount: 'ten' }, 'digits'],
    [{ amount: '0.0000001' }, 'up to 6 decimals'],
    [{ amount: '1,000' }, 'Write 1000 or 1: 1,000 can mean both.'],
    [{ slippage: '60' }, 'from 0.01 to 50'],
    [{ destinationChain: 1, outputToken: 'USDC-1' }, 'two different tokens'],
  ])('%j says what is missing', (change, words) => {
    expect(ask(change)).toContain(words)
  })

  test('may send a token to another recipient on its own chain', () => {
    const sent = { destinationChain: 1, outputToken: 'USDC-1', recipient: '0xyou' }
    expect(ask(sent)).toMatchObject({ inputToken: 'USDC-1', outputToken: 'USDC-1', recipient: '0xyou' })
  })

  test('names the slippage of equal assets, and of the user', () => {
    expect(ask({ outputToken: 'USDC-2' })).toMatchObject({ slippageBps: 50 })
    expect(ask({ slippage: '1' })).toMatchObject({ slippageBps: 100 })
  })

  test('needs a paying wallet and a recipient', () => {
    expect(ask({}, {})).toContain('Connect a wallet for alpha')
    expect(ask({}, { evm: owners.evm })).toContain('name a recipient')
    expect(ask({ recipient: 'you' }, { evm: owners.evm })).toMatchObject({ recipient: 'you' })
  })
})
