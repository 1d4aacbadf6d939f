import { stub } from '@geoswap/protocol/test/stub'
import { intentOf, type QuoteRequest, type SwapRecord } from '@geoswap/sdk'
import { expect, test } from 'vitest'
import { findUnused } from './signatures.ts'

const WALLET = `0x${'Ab'.repeat(20)}`
const request: QuoteRequest = {
  ...{ originChain: 1, destinationChain: 2, inputToken: '0xaa', outputToken: '0xbb' },
  ...{ amount: '10', walletAddress: WALLET },
}
const life = { family: 'evm', chainId: 1, opDeadline: 1_000 } as const
const kept = { [intentOf(request)]: life }
const known = { wallets: [WALLET], swaps: [], nowMs: 900_000 }
const swapOf = (input: string) =>
  stub<SwapRecord>({
    ...{ ...request, walletAddress: WALLET, inputToken: '0xAA', outputToken: '0xbb' },
    amounts: { input, quotedOutput: '9' },
  })

test('a signature without a swap is shown with the last time that a chain may accept it', () => {
  const [unused] = findUnused(kept, known)

  expect(unused).toMatchObject({ request: { amount: '10', inputToken: '0xaa' }, untilMs: 1_300_000 })
  expect(unused?.isAsked).toBe(false)
})

test('a transaction that the wallet was asked for is no signature', () => {
  const [unused] = findUnused({ [intentOf(request)]: { ...life, isAsked: true } }, known)

  expect(unused?.isAsked).toBe(true)
})

test.each([
  ['the signature of an open swap', { swaps: [swapOf('10')] }, 0],
  ['beside an open swap of another amount', { swaps: [swapOf('11')] }, 1],
  ['after its time', { nowMs: 1_300_001 }, 0],
  ['of a wallet that is not in use', { wallets: [`0x${'cd'.repeat(20)}`] }, 0],
] as const)('%s: %#', (_, change, count) => {
  expect(findUnused(kept, { ...known, ...change })).toHaveLength(count)
})
