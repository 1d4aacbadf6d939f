import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { readHolder, readOrUnavailable } from './delegation.ts'

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

const lagging = (...balances: bigint[]) => vi.fn(async () => ({ balance: balances.shift() ?? 0n }))

test('a wallet with enough is read once', async () => {
  const read = lagging(10n)

  expect(await readHolder(chain, 10n, read)).toEqual({ balance: 10n })
  expect(read).toHaveBeenCalledTimes(1)
})

test('a lagging backend is asked again before a wallet counts as short', async () => {
  const read = lagging(0n, 9n, 10n)
  const reading = readHolder(chain, 10n, read)

  await vi.advanceTimersByTimeAsync(1_000)
  expect(await reading).toEqual({ balance: 10n })
  expect(read).toHaveBeenCalledTimes(3)
})

test('a short wallet is short within a second', async () => {
  const read = lagging()
  const reading = readHolder(chain, 1n, read)

  await vi.advanceTimersByTimeAsync(1_000)
  expect(await reading).toEqual({ balance: 0n })
  expect(read).toHaveBeenCalledTimes(6)
})
