import { expect, test } from 'vitest'
import { defaultDeadlines, type NetworkConfig } from '../config.ts'
import { findDeadlineProblems } from './deadline-problems.ts'

const DAY = 86_400

const chain = (family: 'evm' | 'solana') => ({ family, blockMs: 1_000, finality: { hardSeconds: 60 } })
const problemsOf = (families: ('evm' | 'solana')[], claimInclusionSeconds: number) =>
  findDeadlineProblems({
    deadlines: { ...defaultDeadlines, claimInclusionSeconds },
    chains: families.map(chain),
  } as unknown as NetworkConfig)

test('a claim may not take longer than a delivery on Solana is proven', () => {
  const long = problemsOf(['evm', 'solana'], 1.5 * DAY)

  expect(long).toEqual([
    { path: '/deadlines', message: expect.stringMatching(/hours for a claim.*proven for 47/) },
  ])
  expect(problemsOf(['evm', 'solana'], DAY)).toEqual([])
  expect(problemsOf(['evm', 'evm'], 1.5 * DAY)).toEqual([])
})
