import { expect, test } from 'vitest'
import type { Heads } from '../chains/chain.ts'
import type { Attempt } from '../store/attempts.ts'
import { isReadingDue } from './broadcaster.ts'

/** A transaction that was sent at block 100, in second 1000. */
const sent = (fields: Partial<Attempt> = {}) =>
  ({ sentAtBlock: 100n, sentAtSeconds: 1_000, isConsumed: false, ...fields }) as Attempt

type Look = { scannedTo?: bigint; block?: bigint; seconds?: number; isRefused?: boolean }

function isDue(
  open: readonly Attempt[],
  unseen: readonly Attempt[],
  look: Look & { hasNonces?: boolean } = {},
) {
  const { scannedTo = 0n, block = 100n, seconds = 1_000, isRefused = false, hasNonces = true } = look
  const heads = { head: { number: block, seconds } } as Heads
  const refusalOf = () => (isRefused ? ('underpriced' as const) : undefined)
  return isReadingDue(open, { unseen, scannedTo }, heads, { refusalOf, hasNonces })
}

test.each<[string, Look, boolean]>([
  ['its event was looked for two blocks later', { scannedTo: 102n, seconds: 1_003 }, true],
  ['its event was looked for one block later', { scannedTo: 101n, block: 103n, seconds: 1_003 }, false],
  ['that was within two seconds', { scannedTo: 102n, seconds: 1_002 }, false],
  ['nothing was scanned for four blocks', { block: 104n, seconds: 1_003 }, true],
  ['nothing was scanned for three blocks', { block: 103n, seconds: 1_003 }, false],
  ['nodes refused it', { isRefused: true }, true],
])('about a transaction without an event the chain is asked if %s', (_, look, isAsked) => {
  expect(isDue([sent()], [sent()], look)).toBe(isAsked)
})

test('one overdue transaction of several is enough', () => {
  const [old, young] = [sent(), sent({ sentAtBlock: 104n })]

  expect(isDue([old, young], [old, young], { block: 104n, seconds: 1_003 })).toBe(true)
  expect(isDue([], [])).toBe(false)
})

test.each([
  [20, { hasNonces: true }, true],
  [19, { hasNonces: true }, false],
  [20, { hasNonces: false }, false],
])(
  'about %i transactions with events, on a chain with %j, the chain is asked: %s',
  (count, look, isAsked) => {
    const withEvent = Array.from({ length: count }, () => sent())
    const others = [...Array.from({ length: 5 }, () => sent({ isConsumed: true })), sent()]

    expect(isDue([...withEvent, ...others], others.slice(-1), look)).toBe(isAsked)
  },
)
