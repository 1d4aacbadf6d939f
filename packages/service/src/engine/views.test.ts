import type { Pool } from 'pg'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { Heads } from '../chains/chain.ts'
import type { ChainState, ChainView } from '../chains/view.ts'
import { createViews } from './views.ts'

const CHAIN = 1
const MAX_AGE_MS = 60_000

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** Views that take what this process wrote itself. */
function openViews(onPrices = (_chainId: number) => {}) {
  const views = createViews({
    pool: {} as Pool,
    chains: [{ chainId: CHAIN, maxAgeMs: MAX_AGE_MS }],
    onPrices,
    onFault: (error) => expect.unreachable(String(error)),
  })
  onTestFinished(() => views.stop())
  const take = (
    version: bigint,
    hash: string,
    { ageMs = 0, ...rest }: Partial<ChainView> & { ageMs?: number },
  ) =>
    views.take({
      chainId: CHAIN,
      version,
      ageMs,
      view: { heads: { head: { hash } } as Heads, measured: {}, agesMs: { head: 0 }, ...rest },
    })
  return { take, views, view: views.of(CHAIN) }
}

test('a chain is live, and its heads are recent, for as long after they moved as is asked', () => {
  const { take, view } = openViews()
  const before = [view.isLive(), view.recent(500)]
  take(1n, 'a', { ageMs: 100, agesMs: { head: 200 } })
  vi.advanceTimersByTime(200)
  const border = view.recent(500)?.head.hash
  vi.advanceTimersByTime(1)
  const late = view.recent(500)
  vi.advanceTimersByTime(MAX_AGE_MS - 501)
  const live = view.isLive()
  vi.advanceTimersByTime(1)

  expect(before).toEqual([false, undefined])
  expect([border, late]).toEqual(['a', undefined])
  expect([live, view.isLive()]).toEqual([true, false])
})

test('a view of the same head does not make it younger', () => {
  const { take, view } = openViews()
  take(1n, 'a', {})
  vi.advanceTimersByTime(400)
  take(2n, 'a', { agesMs: { head: 400 } })

  expect([view.recent(400)?.head.hash, view.recent(399)]).toEqual(['a', undefined])
})

test('the age of a part is its age in the view, and the time since', () => {
  const { take, view } = openViews()
  const before = view.part('pools')
  take(1n, 'a', { ageMs: 30, pools: [], agesMs: { head: 0, pools: 200 } })
  vi.advanceTimersByTime(1_000)

  expect(before).toBeUndefined()
  expect(view.part('pools')).toEqual({ value: [], ageMs: 1_230 })
  expect(view.part('costs')).toBeUndefined()
})

test.each([
  ['an older one', 4n, 'a'],
  ['the same one', 5n, 'a'],
  ['a newer one', 6n, 'b'],
])('after a view comes %s', (_, version, hash) => {
  const { take, view } = openViews()
  take(5n, 'a', {})
  take(version, 'b', {})

  expect(view.current()?.head.hash).toBe(hash)
})

test('a chain that is not followed has no view', () => {
  expect(() => openViews().views.of(2)).toThrow('Chain 2 is not followed')
})

test('prices that are known as of a later time are reported, also at a head that is not new', () => {
  const reported: number[] = []
  const { take, view } = openViews((chainId) => reported.push(chainId))
  const known: (number | undefined)[] = []
  for (const [version, stateAsOf] of [
    [1n, 0],
    [2n, 0],
    [3n, 7],
  ] as const) {
    take(version, 'a', { stateAsOf, state: {} as ChainState, agesMs: { head: 0, state: 0 } })
    known.push(view.part('state')?.asOf)
  }

  expect(known).toEqual([0, 0, 7])
  expect(reported).toEqual([CHAIN, CHAIN])
})
