import { expect, test } from 'vitest'
import { toPlainRequest } from './request.ts'

const usdc = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const owner = '9aE476sH92Vz7DMPyq5WLPkrKWivxeuTKEFKd2sZZcde'
const solana = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const plain = {
  ...{ originChain: 8453, inputToken: usdc, walletAddress: usdc, amount: 'max' },
  ...{ destinationChain: 792_703_809, outputToken: mint, recipient: owner },
}
const named = {
  ...{ originChain: 'eip155:8453', inputToken: `eip155:8453/erc20:${usdc}`, amount: 'max' },
  ...{ walletAddress: `eip155:8453:${usdc}`, destinationChain: solana },
  ...{ outputToken: `${solana}/token:${mint}`, recipient: `${solana}:${owner}` },
}

test('CAIP ids become numbers and addresses, which stay as they are', () => {
  expect(toPlainRequest(named)).toEqual(plain)
  expect(toPlainRequest(plain)).toEqual(plain)
  expect(toPlainRequest({ ...named, inputToken: 'eip155:8453/slip44:60' }).inputToken).toMatch(/^0x0{40}$/)
})

test.each([
  [{ originChain: 'cosmos:cosmoshub-4' }, 'originChain cosmos:cosmoshub-4 is no known CAIP-2 id'],
  [{ originChain: 1 }, 'is on eip155:8453, not on eip155:1'],
  [{ walletAddress: `eip155:1:${usdc}` }, 'is on eip155:1, not on eip155:8453'],
  [{ recipient: `eip155:8453:${usdc}` }, 'is on eip155:8453, not on '],
  [{ outputToken: `${solana}/nft:${mint}` }, `such as ${solana}/token:ADDRESS, or ${solana}/slip44:501`],
])('a request with %j is refused before the service sees it', (change, message) => {
  expect(() => toPlainRequest({ ...named, ...change })).toThrow(message)
})

test.each([
  [{ walletAddress: 'bob' }, 'walletAddress bob is no address of the family of inputToken'],
  [{ walletAddress: owner }, `walletAddress ${owner} is no address of the family of inputToken`],
  [{ recipient: usdc }, `recipient ${usdc} is no address of the family of outputToken`],
  [{ recipient: `${usdc}0` }, `recipient ${usdc}0 is no address of the family of outputToken`],
  [{ outputToken: 'USDC' }, 'outputToken USDC is no address'],
  [{ inputToken: `${usdc.slice(0, -1)}0` }, 'is no address'],
  // A wrong letter of a checksum.
  [{ inputToken: usdc.replace('fCD6', 'FCD6') }, 'is no address'],
])('a request with %j is refused, because it is no address there', (change, message) => {
  expect(() => toPlainRequest({ ...plain, ...change })).toThrow(message)
})

test('addresses of EVM chains are taken in any case', () => {
  const lower = {
    ...plain,
    inputToken: usdc.toLowerCase(),
    walletAddress: usdc.toUpperCase().replace('X', 'x'),
  }

  expect(toPlainRequest(lower)).toEqual(lower)
})
