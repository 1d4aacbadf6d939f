import { expect, test } from 'vitest'
import type { TokenBook } from '../store/claim-books.ts'
import { toCentsUp, usdE18 } from '../swap/amount.ts'
import { createClaimLimits } from './claim-limits.ts'

const HOUR = 3_600
const usdc = { decimals: 6, price: 10n ** 18n }
const book = (change: Partial<TokenBook>): TokenBook => ({
  chainId: 1,
  token: 'usdc',
  open: 0n,
  claimed: 0n,
  hour: 0,
  ...change,
})

const caps = { unclaimedCents: 100_000n, exposedCents: 5_000n }

type State = {
  cap?: bigint | 'none' | 'unknown'
  books?: TokenBook[]
  unclaimed?: bigint
  exposed?: bigint
  seconds?: number
}

function limits({ cap = 1_000n, books = [], unclaimed = 0n, exposed = 0n, seconds = 0 }: State = {}) {
  const made = createClaimLimits({
    claimCapOf: () => cap,
    secondsOf: () => seconds,
    capsOf: () => caps,
  })
  made.take({ books, deliveries: new Map([[1, { unclaimedCents: unclaimed, exposedCents: exposed }]]) })
  return made
}

const mostOf = (state: State) => limits(state).mostInput(1, 'usdc', usdc)

test('one swap may bring at most a quarter of the hourly claim cap', () => {
  expect(mostOf({ cap: 1_003n })).toBe(250n)
})

test('booked inputs reduce the room, and claims of this hour count until it is over', () => {
  const books = [book({ open: 700n, claimed: 200n, hour: 5 }), book({ token: 'other', open: 10n ** 9n })]

  expect(mostOf({ books, seconds: 6 * HOUR - 1 })).toBe(100n)
  expect(mostOf({ books, seconds: 6 * HOUR })).toBe(250n)
  expect(mostOf({ books: [book({ open: 5_000n })] })).toBe(0n)
})

test('delivered and unclaimed value reduces the room, in the input token', () => {
  const most = mostOf({ cap: 'none', unclaimed: 99_900n })

  expect(toCentsUp(usdE18(most, usdc))).toBe(100n)
  expect(toCentsUp(usdE18(most + 1n, usdc))).toBe(101n)
  expect(mostOf({ cap: 'none', unclaimed: 100_000n })).toBe(0n)
})

test('nothing is accepted before the chain’s cap and the database’s bookings were read', () => {
  const unread = createClaimLimits({
    claimCapOf: () => 1_000n,
    secondsOf: () => 0,
    capsOf: () => caps,
  })

  expect(unread.mostInput(1, 'usdc', usdc)).toBe(0n)
  expect(unread.exposureRoom(1)).toBe(0n)
  expect(mostOf({ cap: 'unknown' })).toBe(0n)
})

test('the room before finality is the rest of the exposure cap', () => {
  expect(limits({ exposed: 4_999n }).exposureRoom(1)).toBe(1n)
  expect(limits({ exposed: 6_000n }).exposureRoom(1)).toBe(0n)
  expect(limits().exposureRoom(2)).toBe(5_000n)
})
