import { expect, test } from 'vitest'
import { assertBeforeChange } from './chain-refusal.ts'

const chain = { chainId: 1, name: 'alpha' }
const change = { members: ['0x1'], threshold: 1, readyAt: 1_000 }

test('a refund deadline before a pending change of attesters is allowed, and no other', () => {
  assertBeforeChange(chain, {}, 5_000)
  assertBeforeChange(chain, { attesterChange: change }, 999)

  expect(() => assertBeforeChange(chain, { attesterChange: change }, 1_000)).toThrow(
    'The attesters of alpha change at 1970-01-01T00:16:40.000Z',
  )
})
