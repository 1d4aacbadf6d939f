import type { ChainEntry, TokenEntry } from '@geoswap/sdk'
import { expect, test } from 'vitest'
import { getSide, isAddressOf } from './catalog.ts'

const native = { symbol: 'ETH', address: '0x0000000000000000000000000000000000000000', decimals: 18 }
const caip = { chainId: '', native: '' }
const alpha: ChainEntry = { chainId: 31_337, caip, name: 'alpha', family: 'evm', native, available: true }
const beta: ChainEntry = { ...alpha, chainId: 31_338, name: 'beta' }
const USDC = '0x5FbDB2315678afecb367f032d93F642f64180aa3'

function token(symbol: string, address: string, chainId = 31_337): TokenEntry {
  const caip = { chainId: '', address: '' }
  return {
    chainId,
    caip,
    symbol,
    address,
    decimals: 6,
    asset: symbol,
    native: false,
    input: true,
    output: true,
  }
}

const twin = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const tokens = [token('USDC', USDC), token('TWIN', twin), token('twin', USDC.replace('a', 'b'))]
const catalog = { chains: [alpha, beta], tokens: [...tokens, token('USDC', twin, 31_338)] }

test.each([
  ...['alpha:USDC', 'alpha:usdc', '31337:Usdc', `alpha:${USDC}`, `alpha:${USDC.toLowerCase()}`],
  `eip155:31337/erc20:${USDC}`,
])('%s is USDC on alpha', (text) => {
  const side = getSide(catalog, text)

  expect([side.chain.name, side.token.address]).toEqual(['alpha', USDC])
})

test('a symbol is looked up on its own chain', () => {
  expect(getSide(catalog, 'beta:USDC').token.address).toBe(twin)
})

test.each([
  ['alpha:USD', 'UNKNOWN_TOKEN', `There are USDC ${USDC}`],
  ['alpha:Twin', 'UNKNOWN_TOKEN', `Name one by its address: ${twin}`],
  ['gamma:USDC', 'UNKNOWN_CHAIN', 'There are alpha (31337), beta (31338).'],
  ['USDC', 'USAGE', 'Write it like alpha:USDC.'],
])('%s is refused with %s and lists the choices', (text, code, advice) => {
  const refusal = { code, advice: expect.stringContaining(advice) }
  expect(() => getSide(catalog, text)).toThrow(expect.objectContaining(refusal))
})

test('symbols that differ in their case only are told apart by it', () => {
  expect(getSide(catalog, 'alpha:TWIN').token.address).toBe(twin)
})

test.each([
  [`eip155:1/erc20:${USDC}`, 'UNKNOWN_CHAIN'],
  [`eip155:31337/erc721:${USDC}`, 'USAGE'],
  ['eip155:31337/slip44:1', 'USAGE'],
  [`eip155:31337/erc20:${beta.chainId}`, 'UNKNOWN_TOKEN'],
])('%s is refused with %s', (text, code) => {
  expect(() => getSide(catalog, text)).toThrow(expect.objectContaining({ code }))
})

test('an address must match its family, and its checksum if it has mixed case', () => {
  expect(isAddressOf('evm', USDC)).toBe(true)
  expect(isAddressOf('evm', USDC.replace('F', 'f'))).toBe(false)
  expect(isAddressOf('evm', '11111111111111111111111111111111')).toBe(false)
  expect(isAddressOf('solana', '11111111111111111111111111111111')).toBe(true)
  expect(isAddressOf('solana', USDC)).toBe(false)
})
