import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { readOrUnavailable } from './read-chain.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const chain = { chainId: 1, name: 'alpha' }
const unavailable = { code: 'CHAIN_UNAVAILABLE', details: { chainId: 1 } }

test('the answer of a node is returned', async () => {
  expect(await readOrUnavailable(chain, Promise.resolve(7))).toBe(7)
  expect(vi.getTimerCount()).toBe(0)
})

test('failing nodes make the chain unavailable', async () => {
  await expect(readOrUnavailable(chain, Promise.reject(new Error('refused')))).rejects.toMatchObject(
    unavailable,
  )
})

test('silent nodes make the chain unavailable before the call times out', async () => {
  const reading = expect(readOrUnavailable(chain, new Promise(() => {}))).rejects.toMatchObject(unavailable)

  await vi.advanceTimersByTimeAsync(15_000)
  await reading
})
