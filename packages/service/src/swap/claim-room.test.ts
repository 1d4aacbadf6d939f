import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createClaimWindow } from '../../test/support/claim-window.ts'
import { bookedAt, type ClaimBook, claimRoom, EMPTY_BOOK, largestShare, withClaimed } from './exposure.ts'

const CAP = 1_000n
const HOUR = 3_600

type Op = {
  amount: bigint
  /** The time at which the chain shows the delivery as final. */
  claimableAt: number
  refundDeadline: number
  state: 'waiting' | 'locked' | 'claimed' | 'final' | 'refunded'
  claimedAt: number
}

type Terms = { amount: number; lockAt: number; toDelivery: number; toDeadline: number }
type Rules = { finalitySeconds: number; reserves: boolean; holdsHour: boolean }

const term = fc.record({
  amount: fc.integer({ min: 1, max: Number(CAP) / 4 }),
  lockAt: fc.integer({ min: 0, max: 4 * HOUR }),
  toDelivery: fc.integer({ min: 10, max: 2_400 }),
  // Seconds from the first moment a claim is possible: short as on a fast chain, or long as on a rollup.
  toDeadline: fc.integer({ min: 120, max: 2 * HOUR }),
})

/**
 * Simulates one escrow with several destinations of different finality. A relayer claims what fits once a minute. After
 * a refund deadline, a third party refunds any remaining input.
 */
function run(terms: readonly Terms[], { finalitySeconds, reserves, holdsHour }: Rules) {
  const window = createClaimWindow(CAP)
  const ops: Op[] = terms.map((each) => ({
    amount: BigInt(each.amount),
    claimableAt: each.lockAt + each.toDelivery,
    refundDeadline: each.lockAt + each.toDelivery + each.toDeadline,
    state: 'waiting',
    claimedAt: 0,
  }))
  let book: ClaimBook = EMPTY_BOOK
  let deferrals = 0
  const lock = (now: number) => {
    for (const [index, op] of ops.entries()) {
      // A lock without room for three minutes expires, and nothing is taken.
      const at = terms[index]?.lockAt ?? 0
      if (op.state !== 'waiting' || now < at || now > at + 180) continue
      if (reserves && op.amount > claimRoom(book, CAP, now)) continue
      op.state = 'locked'
      book = { ...book, open: book.open + op.amount }
    }
  }
  const close = (now: number) => {
    const ready = ops.filter(({ state, claimableAt }) => state === 'locked' && claimableAt <= now)
    const deferred = new Set(window.claimMany(ready, now))
    deferrals += deferred.size
    for (const op of ready) {
      if (!deferred.has(op)) Object.assign(op, { state: 'claimed', claimedAt: now })
      else if (now >= op.refundDeadline) op.state = 'refunded'
    }
    for (const op of ops) {
      if (op.state !== 'claimed' || op.claimedAt + finalitySeconds > now) continue
      op.state = 'final'
      book = holdsHour
        ? withClaimed(book, op.amount, now - finalitySeconds)
        : { ...book, open: book.open - op.amount }
    }
  }
  for (let now = 0; now <= 10 * HOUR; now += 60) {
    lock(now)
    close(now)
  }
  const countOf = (state: Op['state']) => ops.filter((op) => op.state === state).length
  return {
    deferrals,
    book,
    final: countOf('final'),
    refunded: countOf('refunded'),
    waiting: countOf('waiting'),
  }
}

const RULES: Rules = { finalitySeconds: 60, reserves: true, holdsHour: true }
const finality = fc.constantFrom(0, 60, 780, 2_400)

test('the cap never defers a booked claim, whatever the time and order in which claims are sent', () => {
  fc.assert(
    fc.property(fc.array(term, { maxLength: 60 }), finality, (terms, finalitySeconds) => {
      const { deferrals, refunded, final, waiting, book } = run(terms, { ...RULES, finalitySeconds })

      expect({ deferrals, refunded }).toEqual({ deferrals: 0, refunded: 0 })
      expect(final + waiting).toBe(terms.length)
      expect(book.open).toBe(0n)
    }),
  )
})

/** Two destinations, final after 1 and 20 minutes, whose swaps bring one origin twice its cap per hour. */
const flood: Terms[] = Array.from({ length: 48 }, (_, index) => ({
  amount: 160,
  lockAt: index * 300,
  toDelivery: index % 2 === 0 ? 60 : 1_200,
  toDeadline: 900,
}))

test('several destinations exceed the cap of one origin: no swap is both delivered and refunded', () => {
  const { refunded, final, waiting } = run(flood, RULES)

  expect(refunded).toBe(0)
  expect(waiting).toBeGreaterThan(0)
  // At most six inputs of 160 fit into each of four hourly caps of 1,000.
  expect(final).toBeGreaterThanOrEqual(20)
})

test('without booking, or if a booking ends with the claim, the same load is both delivered and refunded', () => {
  expect(run(flood, { ...RULES, reserves: false }).refunded).toBeGreaterThan(0)
  expect(run(flood, { ...RULES, holdsHour: false }).refunded).toBeGreaterThan(0)
})

test('a claim counts until its hour is over', () => {
  const book = withClaimed({ open: 700n, claimed: 0n, hour: 0 }, 300n, HOUR + 10)

  expect(book).toEqual({ open: 400n, claimed: 300n, hour: 1 })
  expect([bookedAt(book, 2 * HOUR - 1), bookedAt(book, 2 * HOUR)]).toEqual([700n, 400n])
  expect(claimRoom(book, 500n, 2 * HOUR - 1)).toBe(0n)
})

test('a claim of a past hour takes nothing of a later one', () => {
  const book = { open: 700n, claimed: 100n, hour: 5 }

  expect(withClaimed(book, 300n, 4 * HOUR)).toEqual({ open: 400n, claimed: 100n, hour: 5 })
  expect(withClaimed(book, 300n, 5 * HOUR)).toEqual({ open: 400n, claimed: 400n, hour: 5 })
  expect(withClaimed(book, 300n, 6 * HOUR)).toEqual({ open: 400n, claimed: 300n, hour: 6 })
})

test('a single input takes at most a quarter of the cap', () => {
  expect(largestShare(1_003n)).toBe(250n)
})

test('a lowered cap defers claims, and the following hours take them in order', () => {
  const window = createClaimWindow(CAP)
  const ops = [1n, 2n, 3n, 4n].map((index) => ({ index, amount: 200n }))
  window.setLimit(400n, 0)

  const later = window.claimMany(ops, 60)
  const never = window.claimMany(later, HOUR)

  expect(later.map(({ index }) => index)).toEqual([3n, 4n])
  expect(never).toEqual([])
})
