import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bookedAt, type ClaimBook, claimRoom, EMPTY_BOOK, largestShare, withClaimed } from './claim-room.ts'
import { createClaimWindow } from './test-claim-window.ts'

const CAP = 1_000n
const HOUR = 3_600

type Op = {
  amount: bigint
  /** When the chain shows that its delivery is final. */
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
  // From the moment a claim is possible. As short as a fast chain has it, or as long as a rollup has.
  toDeadline: fc.integer({ min: 120, max: 2 * HOUR }),
})

/**
 * One escrow, fed by several destinations, each with its own time to finality. A relayer claims what it can every
 * minute; from a refund deadline on a stranger sends back whatever is still there.
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
      // A lock that finds no room for three minutes has expired: nothing is taken.
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

test('a claim that was booked is never put off by the cap, whenever and in whichever order claims are sent', () => {
  fc.assert(
    fc.property(fc.array(term, { maxLength: 60 }), finality, (terms, finalitySeconds) => {
      const { deferrals, refunded, final, waiting, book } = run(terms, { ...RULES, finalitySeconds })

      expect({ deferrals, refunded }).toEqual({ deferrals: 0, refunded: 0 })
      expect(final + waiting).toBe(terms.length)
      expect(book.open).toBe(0n)
    }),
  )
})

/** Two destinations, final after one minute and after twenty, that feed one origin with twice its cap an hour. */
const flood: Terms[] = Array.from({ length: 48 }, (_, index) => ({
  amount: 160,
  lockAt: index * 300,
  toDelivery: index % 2 === 0 ? 60 : 1_200,
  toDeadline: 900,
}))

test('several destinations that feed one origin beyond its cap: nothing is both delivered and refunded', () => {
  const { refunded, final, waiting } = run(flood, RULES)

  expect(refunded).toBe(0)
  expect(waiting).toBeGreaterThan(0)
  // Of four hours' caps of 1,000, at six inputs of 160 each.
  expect(final).toBeGreaterThanOrEqual(20)
})

test('without the booking, or with one that ends with the claim, the same load is delivered and refunded', () => {
  expect(run(flood, { ...RULES, reserves: false }).refunded).toBeGreaterThan(0)
  expect(run(flood, { ...RULES, holdsHour: false }).refunded).toBeGreaterThan(0)
})

test('a claim counts until the hour is over in which it was made', () => {
  const book = withClaimed({ open: 700n, claimed: 0n, hour: 0 }, 300n, HOUR + 10)

  expect(book).toEqual({ open: 400n, claimed: 300n, hour: 1 })
  expect([bookedAt(book, 2 * HOUR - 1), bookedAt(book, 2 * HOUR)]).toEqual([700n, 400n])
  expect(claimRoom(book, 500n, 2 * HOUR - 1)).toBe(0n)
})

test('a claim of an hour that is over takes nothing of a later one', () => {
  const book = { open: 700n, claimed: 100n, hour: 5 }

  expect(withClaimed(book, 300n, 4 * HOUR)).toEqual({ open: 400n, claimed: 100n, hour: 5 })
  expect(withClaimed(book, 300n, 5 * HOUR)).toEqual({ open: 400n, claimed: 400n, hour: 5 })
  expect(withClaimed(book, 300n, 6 * HOUR)).toEqual({ open: 400n, claimed: 300n, hour: 6 })
})

test('a single input takes at most a quarter of the cap', () => {
  expect(largestShare(1_003n)).toBe(250n)
})

test('a lowered cap puts claims off, and the hours after it take them in order', () => {
  const window = createClaimWindow(CAP)
  const ops = [1n, 2n, 3n, 4n].map((index) => ({ index, amount: 200n }))
  window.setLimit(400n, 0)

  const later = window.claimMany(ops, 60)
  const never = window.claimMany(later, HOUR)

  expect(later.map(({ index }) => index)).toEqual([3n, 4n])
  expect(never).toEqual([])
})
