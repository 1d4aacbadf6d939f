import { expect, test } from 'vitest'
import type { CatalogChain } from './catalog.ts'
import { assertNotLate, isLate } from './chain-refusal.ts'

const base = { chainId: 8453, name: 'base', finality: { hardSeconds: 2_400 } } as CatalogChain

test('a chain is served up to three times its configured finality, and before finality is measured', () => {
  for (const now of [{}, { finalitySeconds: 900 }, { finalitySeconds: 7_200 }]) {
    expect(isLate(base, now)).toBe(false)
    expect(() => assertNotLate(base, now)).not.toThrow()
  }
})

test('503 CHAIN_UNAVAILABLE reports the extra time to finality and when to retry', () => {
  const refuse = () => assertNotLate(base, { finalitySeconds: 7_230 })

  expect(refuse).toThrow(
    expect.objectContaining({
      code: 'CHAIN_UNAVAILABLE',
      message: 'Finality of base takes 81 minutes longer than usual, and swaps wait for it. Try again later.',
      details: { chainId: 8453, finalitySeconds: 7_230 },
      recovery: { retryAfterMs: 60_000 },
    }),
  )
})
