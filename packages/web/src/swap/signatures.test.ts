import { stub } from '@geoswap/protocol/test/stub'
import { intentOf, lockableUntil, type QuoteRequest, type SwapRecord } from '@geoswap/sdk'
import { describe, expect, test, vi } from 'vitest'
import { findUnused, releaseSignature, releaseUnasked, signatures } from './signatures.ts'

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

describe('of a swap that this tab leaves', () => {
  const own = { ...life, opDeadline: Math.round(Date.now() / 1_000) }
  const other = { ...own, opDeadline: own.opDeadline + 60 }
  const swap = { request, lockableUntil: lockableUntil(own) }
  const intent = intentOf(request)

  /** The note of the swap's intent once this tab has let go of a swap. */
  function noteAfter(release: (left: typeof swap) => void, note: typeof own & { isAsked?: boolean }) {
    const storage = new Map<string, string>()
    const stub = {
      getItem: (name: string) => storage.get(name) ?? null,
      setItem: (name: string, value: string) => void storage.set(name, value),
      removeItem: (name: string) => void storage.delete(name),
    }
    vi.stubGlobal('localStorage', stub)
    vi.stubGlobal('sessionStorage', { getItem: () => null, removeItem() {} })
    signatures.set(intent, note)
    release(swap)
    return signatures.get(intent)
  }

  test.each([
    ['goes, once it is settled', releaseSignature, { ...own, isAsked: true }, undefined],
    ['goes, if no wallet was asked', releaseUnasked, own, undefined],
    ['stays, if another tab asked the wallet meanwhile', releaseUnasked, { ...own, isAsked: true }, own],
    ['stays, if a settled swap is not the one that it is of', releaseSignature, other, other],
    ['stays, if it is of the same swap in another tab', releaseUnasked, other, other],
  ])('the note %s', (_, release, note, left) => {
    const found = noteAfter(release, note)

    expect(found?.family === 'evm' ? found.opDeadline : undefined).toBe(left?.opDeadline)
  })
})

test('a swap that was never signed here takes no note away', () => {
  vi.stubGlobal('sessionStorage', { getItem: () => null, removeItem() {} })
  const stored = JSON.stringify({ [intentOf(request)]: life })
  const setItem = vi.fn()
  vi.stubGlobal('localStorage', { getItem: () => stored, setItem, removeItem() {} })

  releaseSignature({ request, lockableUntil: undefined })

  expect(setItem).not.toHaveBeenCalled()
})
