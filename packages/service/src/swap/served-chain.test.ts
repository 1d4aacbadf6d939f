import { expect, test } from 'vitest'
import { assertNotLate, assertOwnAttesters } from './served-chain.ts'

const chain = { chainId: 1, name: 'alpha' }
const set = { members: ['0x1'], threshold: 1, since: 1_000 }

test('an op that attesters of others would decide is refused, and no other', () => {
  const attesterChange = { ...set, kind: 'foreign' as const }

  assertOwnAttesters(chain, { attesterChange }, 999)
  expect(() => assertOwnAttesters(chain, { attesterChange }, 1_000)).toThrow(
    'The escrow of alpha has attesters that are not of this service.',
  )
})

test.each(['proposed', 'accepted'] as const)('a change that is %s refuses no op', (kind) => {
  assertOwnAttesters(chain, {}, 5_000)
  assertOwnAttesters(chain, { attesterChange: { ...set, kind } }, 5_000)
})

test('an op is refused while finality is far slower than usual, with the delay', () => {
  const finality = { accept: [], settle: 1, reorgWindowSeconds: 1, hard: 1, hardSeconds: 100 }
  const assertAt = (finalitySeconds?: number) =>
    assertNotLate({ ...chain, finality }, finalitySeconds === undefined ? {} : { finalitySeconds })

  assertAt(undefined)
  assertAt(300)
  expect(() => assertAt(301)).toThrow('Finality of alpha takes 3 minutes longer than usual')
})
