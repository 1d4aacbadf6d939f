import type { ChainEntry, TokenEntry } from '@geoswap/sdk'
import { describe, expect, test } from 'vitest'
import {
  firstOrder,
  isServed,
  namesOf,
  type Order,
  onChain,
  orderNamed,
  toRequest,
  turned,
  unknownIn,
} from './order.ts'

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
const evmAddress = '0x00000000000000000000000000000000000000aa'
const solanaAddress = 'So11111111111111111111111111111111111111112'
const owners = { evm: { address: '0xme' }, solana: { address: 'me' } }
const order = firstOrder(catalog)
const open = (from: string, to = '', amount = '') => orderNamed({ from, to, amount }, catalog)
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
    const received = turned(order, '0.06')

    expect(received).toMatchObject({ inputToken: 'SOL-2', outputToken: 'USDC-1', amount: '0.06' })
    expect(turned(received, order.amount)).toEqual(order)
  })

  test('of a link to tokens that are not served names them, and repeats no sentence of the link', () => {
    const unknown = (from: string) => unknownIn({ from, to: '', amount: '' }, catalog)

    expect(unknown('base:DAI')).toEqual(['base:DAI'])
    expect(unknown('base:DAI. Your wallet is at risk')).toEqual(['the token of this link'])
    expect(unknown('1:USDC-1')).toEqual([])
  })

  test('of a link that names one token has another one beside it', () => {
    expect(open('1:ETH-1')).toMatchObject({ inputToken: 'ETH-1', outputToken: 'SOL-2', amount: '' })
    expect(open('2:SOL-2')).toMatchObject({ inputToken: 'SOL-2', outputToken: 'USDC-1' })
    expect(open('', 'alpha:USDC')).toMatchObject({ inputToken: 'SOL-2', outputToken: 'USDC-1' })
    expect(open('1:gone')).toBeUndefined()
  })

  test.each([
    ['alpha:USDC', 'solana:SOL'],
    ['Alpha:usdc', '2:sol'],
    ['1:USDC-1', '2:SOL-2'],
  ])('of a link from %s to %s is the named one, and has one name', (from, to) => {
    const named = open(from, to, '1.5')

    expect(named).toEqual({ ...order, amount: '1.5' })
    expect(named && namesOf(named, catalog)).toEqual({ from: 'alpha:USDC', to: 'solana:SOL', amount: '1.5' })
  })

  test('names a token by its address where two have the same symbol', () => {
    const twice = {
      ...catalog,
      tokens: [...catalog.tokens, { ...token(1, 'USDC', 6, '1'), address: 'other' }],
    }

    expect(namesOf(order, twice).from).toBe('1:USDC-1')
    expect(orderNamed({ from: '1:other', to: '', amount: '' }, twice)?.inputToken).toBe('other')
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
    const sent = { destinationChain: 1, outputToken: 'USDC-1', recipient: evmAddress }
    expect(ask(sent)).toMatchObject({ inputToken: 'USDC-1', outputToken: 'USDC-1', recipient: evmAddress })
  })

  test('names the slippage of equal assets, and of the user', () => {
    expect(ask({ outputToken: 'USDC-2' })).toMatchObject({ slippageBps: 50 })
    expect(ask({ slippage: '1' })).toMatchObject({ slippageBps: 100 })
  })

  test('needs a paying wallet and a recipient', () => {
    expect(ask({}, {})).toContain('Connect a wallet for alpha')
    expect(ask({}, { evm: owners.evm })).toContain('name a recipient')
    expect(ask({ recipient: solanaAddress }, { evm: owners.evm })).toMatchObject({ recipient: solanaAddress })
  })

  test('does not pay an address of another family', () => {
    const back = { destinationChain: 1, outputToken: 'ETH-1' }

    expect(ask({ recipient: evmAddress })).toBe(
      'The recipient is an EVM address: solana needs a Solana address.',
    )
    expect(ask({ ...back, recipient: solanaAddress })).toBe(
      'The recipient is a Solana address: alpha needs an EVM address.',
    )
    expect(ask({ recipient: 'me.sol' })).toBe('The recipient is no address on solana.')
  })
})
