import { expect, test } from 'vitest'
import { type Catalog, type CatalogChain, findChain, recordCaip } from './catalog.ts'

const chainOf = (chainId: number, family: CatalogChain['family']) => ({ chainId, family }) as CatalogChain
const catalog: Catalog = {
  chains: new Map([
    [8453, chainOf(8453, 'evm')],
    [31_339, chainOf(31_339, 'solana')],
  ]),
  assets: new Map(),
}

test.each<[number | string, number | undefined]>([
  [8453, 8453],
  ['eip155:8453', 8453],
  ['solana:31339', 31_339],
  ['solana:8453', undefined],
  ['eip155:31339', undefined],
  ['eip155:1', undefined],
  ['base', undefined],
  [1, undefined],
])('the name %s is that of chain %s', (named, chainId) => {
  expect(findChain(catalog, named)?.chainId).toBe(chainId)
})

test('the tokens of a stored swap tell the families of its chains', () => {
  const swap = {
    ...{ originChain: 1, inputToken: 'mint', walletAddress: 'owner' },
    ...{ destinationChain: 2, outputToken: '0xc', recipient: '0xa' },
  }

  expect(recordCaip(swap)).toEqual({
    ...{ originChain: 'solana:1', inputToken: 'solana:1/token:mint', walletAddress: 'solana:1:owner' },
    ...{ destinationChain: 'eip155:2', outputToken: 'eip155:2/erc20:0xc', recipient: 'eip155:2:0xa' },
  })
})
