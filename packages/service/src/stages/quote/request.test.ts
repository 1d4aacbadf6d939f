import type { NamedQuoteRequest } from '@geoswap/wire'
import { expect, test } from 'vitest'
import { parseEvmAddress } from '../../chains/evm/address.ts'
import type { ServiceError } from '../../errors.ts'
import type { Catalog, CatalogChain, Token } from '../../swap/catalog.ts'
import { type AddressesOf, toOrder } from './request.ts'

const at = (digit: string) => parseEvmAddress(`0x${digit.repeat(40)}`) ?? ''
const ZERO = at('0')
const SYSTEM = '1'.repeat(32)
const [WALLET, OTHER, USDC, DAI, ESCROW] = [at('a'), at('b'), at('c'), at('d'), at('e')]

const tokenOf = (chainId: number, address: string, asset: string): Token => ({
  ...{ chainId, address, asset, symbol: asset, decimals: 6 },
})

function chainOf(
  chainId: number,
  family: CatalogChain['family'],
  addresses: readonly string[],
): CatalogChain {
  const [native = '', usdc = '', dai = ''] = addresses
  const coin = tokenOf(chainId, native, 'ETH')
  const tokens = [coin, tokenOf(chainId, usdc, 'USDC'), tokenOf(chainId, dai, 'DAI')]
  const own = family === 'evm' ? [ESCROW] : []
  const sizes = { maxAmount: BigInt(chainId) * 1_000n, blockSeconds: 1, finality: {} as never }
  return { chainId, name: `chain ${chainId}`, family, native: coin, tokens, ownAddresses: own, ...sizes }
}

const evm = [ZERO, USDC, DAI]
const catalog: Catalog = {
  chains: new Map([
    [1, chainOf(1, 'evm', evm)],
    [2, chainOf(2, 'evm', evm)],
    [3, chainOf(3, 'solana', [SYSTEM, 'mint-usdc', 'mint-dai'])],
  ]),
  assets: new Map([
    ['ETH', { name: 'Ether', usdStable: false }],
    ['USDC', { name: 'USD Coin', usdStable: true }],
    ['DAI', { name: 'Dai', usdStable: true }],
  ]),
}
const addresses = {
  evm: { form: 'an EVM address', parse: parseEvmAddress, canSign: (address) => address !== '' },
  solana: {
    form: 'a Solana address',
    parse: (text) => (text.startsWith('bad') ? undefined : text),
    canSign: (address) => address !== 'offCurve',
  },
} satisfies { [Family in CatalogChain['family']]?: ReturnType<AddressesOf> }

const addressesOf: AddressesOf = ({ family }) => addresses[family as keyof typeof addresses]

const asked: NamedQuoteRequest = {
  originChain: 1,
  destinationChain: 2,
  inputToken: USDC,
  outputToken: USDC,
  amount: '5',
  walletAddress: WALLET,
}

const order = (request: Partial<NamedQuoteRequest> = {}) =>
  toOrder(catalog, addressesOf, { ...asked, ...request })

function refusal(request: Partial<NamedQuoteRequest>): ServiceError {
  try {
    order(request)
  } catch (error) {
    return error as ServiceError
  }
  throw new Error('Expected a refusal')
}

test('an order is for the wallet itself, with an exact input, unless it says otherwise', () => {
  expect(order()).toMatchObject({
    ...{ wallet: WALLET, recipient: WALLET, amount: 5n, tradeType: 'exactInput', slippageBps: 50 },
    ...{ leastOutput: 0n, origin: { chainId: 1 }, destination: { chainId: 2 } },
    ...{ input: { chainId: 1, asset: 'USDC' }, output: { chainId: 2, asset: 'USDC' } },
  })
  expect(order().maxEtaSeconds).toBeUndefined()
  expect(
    order({ recipient: OTHER, tradeType: 'exactOutput', slippageBps: 7, maxEtaSeconds: 9 }),
  ).toMatchObject({ recipient: OTHER, tradeType: 'exactOutput', slippageBps: 7, maxEtaSeconds: 9 })
})

test.each<[string, number, Partial<NamedQuoteRequest>]>([
  ['one asset', 50, { inputToken: ZERO, outputToken: ZERO }],
  ['two dollars', 50, { outputToken: DAI }],
  ['a dollar and a coin', 300, { outputToken: ZERO }],
  ['a coin and a dollar', 300, { inputToken: ZERO }],
])('a swap between %s has a slippage of %i bps by default', (_, bps, request) => {
  expect(order(request).slippageBps).toBe(bps)
})

test('chains, tokens and accounts can be named by their CAIP ids', () => {
  const named = order({
    ...{ originChain: 'eip155:1', inputToken: `eip155:1/erc20:${DAI}` },
    ...{ walletAddress: `eip155:1:${WALLET}`, recipient: `eip155:2:${OTHER}` },
    outputToken: 'eip155:2/slip44:60',
  })

  expect(named).toMatchObject({ wallet: WALLET, recipient: OTHER, input: { asset: 'DAI' } })
  expect(named.output.address).toBe(ZERO)
})

const [EVM_ADDRESS, SOLANA_ADDRESS] = [addresses.evm.form, addresses.solana.form]
const toSolana = { destinationChain: 3, outputToken: 'mint-usdc' }

test.each<[string, Partial<NamedQuoteRequest>, string[]]>([
  ['no amount', { amount: '0' }, ['amount must be more than 0']],
  ['more than the origin can carry', { amount: '1001' }, ['amount must be at most 1000 smallest units']],
  [
    'more than the destination can carry',
    { amount: '2001', tradeType: 'exactOutput' },
    ['amount must be at most 2000 smallest units'],
  ],
  [
    'a wallet with a wrong checksum',
    { walletAddress: `0x${'aA'.repeat(20)}` },
    [`walletAddress must be ${EVM_ADDRESS}`],
  ],
  [
    'a wallet of another chain',
    { walletAddress: `eip155:2:${WALLET}` },
    ['walletAddress is on eip155:2, not on eip155:1'],
  ],
  [
    'a recipient of another chain',
    { ...toSolana, recipient: `eip155:2:${WALLET}` },
    ['recipient is on eip155:2, not on solana:3'],
  ],
  [
    'a token and a wallet that are no addresses',
    { inputToken: '0x1', walletAddress: '0x2' },
    [`inputToken must be ${EVM_ADDRESS}`, `walletAddress must be ${EVM_ADDRESS}`],
  ],
  [
    'a token that is named as an account',
    { inputToken: `eip155:1:${USDC}` },
    ['inputToken must be a CAIP-19 token, such as eip155:1/erc20:ADDRESS, or eip155:1/slip44:60'],
  ],
  [
    'a recipient that is no address',
    { ...toSolana, recipient: 'bad' },
    [`recipient must be ${SOLANA_ADDRESS}`],
  ],
  [
    'no recipient on a chain of another family',
    toSolana,
    [`recipient is required from a chain of another family: ${SOLANA_ADDRESS}`],
  ],
  [
    'a wallet that nobody has a key of',
    { originChain: 3, inputToken: 'mint-usdc', walletAddress: 'offCurve', recipient: OTHER },
    ['walletAddress is an address that nobody can sign for'],
  ],
  ['the zero address', { recipient: ZERO }, ['recipient must not be the zero address']],
  ['the token as recipient', { recipient: USDC }, ['recipient must not be the token itself']],
  [
    'the token as wallet',
    { walletAddress: USDC, recipient: OTHER },
    ['walletAddress must not be the token itself'],
  ],
  ['our escrow', { recipient: ESCROW }, ['recipient must not be an address of this service']],
  [
    'a precompiled contract',
    { recipient: `0x${'1'.padStart(40, '0')}` },
    ['recipient must not be a precompiled contract'],
  ],
  [
    'several mistakes',
    { inputToken: '0x1', amount: '0', recipient: '0x2' },
    [`inputToken must be ${EVM_ADDRESS}`, `recipient must be ${EVM_ADDRESS}`, 'amount must be more than 0'],
  ],
])('400 INVALID_REQUEST names %s', (_, request, said) => {
  const { code, message, details } = refusal(request)

  expect({ code, message }).toEqual({ code: 'INVALID_REQUEST', message: `${said.join('; ')}.` })
  const issues = said.map((line) => ({ field: line.split(' ')[0], message: line.replace(/^\w+ /, '') }))
  expect(details).toEqual({ issues })
})

test('the largest amount of a chain is accepted', () => {
  expect(order({ amount: '1000' }).amount).toBe(1_000n)
  expect(order({ amount: '2000', tradeType: 'exactOutput' }).amount).toBe(2_000n)
})

test.each<[string, string, Partial<NamedQuoteRequest>, object]>([
  [
    'UNSUPPORTED_CHAIN',
    'an unknown origin',
    { originChain: 9 },
    { field: 'originChain', supported: [1, 2, 3] },
  ],
  ['UNSUPPORTED_CHAIN', 'an unknown destination', { destinationChain: 9 }, { field: 'destinationChain' }],
  ['UNSUPPORTED_TOKEN', 'an unknown input', { inputToken: OTHER }, { token: OTHER }],
  ['UNSUPPORTED_TOKEN', 'an unknown output', { outputToken: OTHER }, { token: OTHER }],
])('422 %s says what is served instead of %s', (code, _, request, details) => {
  expect(refusal(request)).toMatchObject({ code, details })
})

test('422 NO_ROUTE answers a swap of a token with itself; to another recipient it is a transfer', () => {
  const same = { destinationChain: 1 }

  expect(refusal(same).code).toBe('NO_ROUTE')
  expect(order({ ...same, recipient: OTHER }).recipient).toBe(OTHER)
  expect(order({ ...same, outputToken: DAI }).recipient).toBe(WALLET)
})

test('422 UNSUPPORTED_TOKEN names why a token is closed, and does not list it as supported', () => {
  const why = 'chain 1: the token has the symbol NEW, not DAI'
  const one = { ...chainOf(1, 'evm', evm), whyClosed: (token: string) => (token === DAI ? why : undefined) }
  const closed = { ...catalog, chains: new Map([...catalog.chains, [1, one] as const]) }
  const ask = (inputToken: string) => toOrder(closed, addressesOf, { ...asked, inputToken })

  expect(ask(USDC).input.address).toBe(USDC)
  expect(() => ask(DAI)).toThrow(
    expect.objectContaining({
      code: 'UNSUPPORTED_TOKEN',
      message: `${DAI} is not a token that can be swapped on chain 1 now: ${why}.`,
      details: expect.objectContaining({
        closed: why,
        supported: [ZERO, USDC].map((address) => expect.objectContaining({ address })),
      }),
    }),
  )
})
