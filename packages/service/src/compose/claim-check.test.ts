import { expect, test } from 'vitest'
import { createClaimCheck } from './claim-check.ts'

const deadlines = { attemptLifeSeconds: 30, detectionSeconds: 5, claimInclusionSeconds: 10 }

/** Origin 1 is final after 4 seconds, destination 2 after 6. */
function checkAt(originSeconds?: number) {
  const current = () => originSeconds !== undefined && { head: { seconds: originSeconds } }
  const isClaimable = createClaimCheck({
    config: { network: { deadlines } },
    catalog: { chains: new Map([4, 6].map((hardSeconds, index) => [index + 1, { hardSeconds }])) },
    followers: new Map([[1, { current: () => current() || undefined }]]),
  } as unknown as Parameters<typeof createClaimCheck>[0])
  return isClaimable({ originChain: 1, destinationChain: 2, refundDeadline: 1_000 })
}

test('a claim needs the finality of both chains and what the configuration allows for the rest', () => {
  expect(checkAt(1_000 - 30 - 5 - 10 - 4 - 6)).toBe(true)
  expect(checkAt(1_001 - 30 - 5 - 10 - 4 - 6)).toBe(false)
})

test('nobody can say while the chain of the input was not seen', () => {
  expect(checkAt()).toBeUndefined()
})
