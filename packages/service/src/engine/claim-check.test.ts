import { expect, test } from 'vitest'
import { stub } from '../../test/support/stub.ts'
import { createClaimCheck, createLateCheck } from './checks.ts'

const deadlines = { attemptLifeSeconds: 30, detectionSeconds: 5, claimInclusionSeconds: 10 }
const REST = 30 + 5 + 10

type Seen = { originSeconds?: number; measured?: [origin: number, destination: number] }

/** By the configuration, origin 1 is final after 4 seconds, destination 2 after 6. */
function partsOf({ originSeconds, measured = [3, 3] }: Seen) {
  const current = originSeconds === undefined ? undefined : { head: { seconds: originSeconds } }
  return stub<Parameters<typeof createClaimCheck>[0]>({
    deadlines,
    catalog: { chains: new Map([4, 6].map((hardSeconds, at) => [at + 1, { finality: { hardSeconds } }])) },
    followers: new Map(
      measured.map((finalitySeconds, at) => [
        at + 1,
        { current: () => current, measured: () => ({ finalitySeconds }) },
      ]),
    ),
  })
}

const isClaimable = (seen: Seen) =>
  createClaimCheck(partsOf(seen))({ originChain: 1, destinationChain: 2, refundDeadline: 1_000 })

test('a claim needs the finality of both chains and the configured margin', () => {
  expect(isClaimable({ originSeconds: 1_000 - REST - 4 - 6 })).toBe(true)
  expect(isClaimable({ originSeconds: 1_001 - REST - 4 - 6 })).toBe(false)
})

test('a claim needs more time if finality is measured as slower', () => {
  const measured: Seen['measured'] = [8, 12]
  expect(isClaimable({ originSeconds: 1_000 - REST - 8 - 12, measured })).toBe(true)
  expect(isClaimable({ originSeconds: 1_001 - REST - 8 - 12, measured })).toBe(false)
})

test("the answer is unknown until the input's chain was seen", () => {
  expect(isClaimable({})).toBeUndefined()
})

test('a chain is late if its finality takes more than three times the configured time', () => {
  expect(createLateCheck(partsOf({ measured: [12, 18] }))(1)).toBe(false)
  expect(createLateCheck(partsOf({ measured: [13, 18] }))(1)).toBe(true)
  expect(createLateCheck(partsOf({ measured: [13, 18] }))(2)).toBe(false)
})
