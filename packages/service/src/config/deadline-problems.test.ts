import { expect, test } from 'vitest'
import { stub } from '../../test/support/stub.ts'
import { defaultDeadlines, type NetworkConfig } from '../config.ts'
import { findDeadlineProblems } from './deadline-problems.ts'

const HOUR = 3_600
const DAY = 24 * HOUR

type Family = 'evm' | 'solana'
type Times = { claimInclusionSeconds?: number; depositSeconds?: number; hardSeconds?: number }

const problemsOf = (families: Family[], { hardSeconds = 60, ...deadlines }: Times) =>
  findDeadlineProblems(
    stub<NetworkConfig>({
      deadlines: { ...defaultDeadlines, claimInclusionSeconds: 300, ...deadlines },
      chains: families.map((family) => ({
        family,
        blockMs: 1_000,
        finality: { reorgWindowSeconds: 10, hardSeconds },
      })),
    }),
  )

test('a claim may not take longer than a delivery on Solana is proven', () => {
  const long = problemsOf(['evm', 'solana'], { claimInclusionSeconds: 1.5 * DAY })

  expect(long).toEqual([
    { path: '/deadlines', message: expect.stringMatching(/hours for a claim.*proven for 47/) },
  ])
  expect(problemsOf(['evm', 'solana'], { claimInclusionSeconds: DAY })).toEqual([])
  expect(problemsOf(['evm', 'evm'], { claimInclusionSeconds: 1.5 * DAY })).toEqual([])
})

test('the escrow accepts an op that was built while finality took three times as long as configured', () => {
  expect(problemsOf(['evm', 'evm'], { hardSeconds: 0.5 * DAY })).toEqual([])
  expect(problemsOf(['evm', 'evm'], { hardSeconds: 0.6 * DAY })).toEqual(
    [0, 1].map((index) => ({
      path: `/chains/${index}/finality/hardSeconds`,
      message: expect.stringMatching(/holds an input for up to 1\d\d hours.*seven days/),
    })),
  )
})

test('a delivery on Solana is proven for as long as its claim may take while finality is slow', () => {
  expect(problemsOf(['evm', 'solana'], { hardSeconds: 5 * HOUR })).toEqual([])
  expect(problemsOf(['evm', 'solana'], { hardSeconds: 6 * HOUR })).toEqual([
    { path: '/deadlines', message: expect.stringMatching(/hours for a claim.*proven for 47/) },
  ])
})

test('a deposit may not be waited for so long that the escrow would refuse its op', () => {
  expect(problemsOf(['evm', 'evm'], { depositSeconds: 7 * DAY })).toEqual([
    { path: '/deadlines', message: expect.stringMatching(/holds an input for up to \d+ hours/) },
  ])
  expect(problemsOf(['evm', 'evm'], { depositSeconds: DAY })).toEqual([])
})
