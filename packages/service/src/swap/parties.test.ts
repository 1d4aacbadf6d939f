import { expect, test } from 'vitest'
import type { Verdict } from '../screen/denials.ts'
import { assertServed, partiesOf } from './parties.ts'

test('a caller learns the decision, and neither whom it is about nor who made it', () => {
  const refusalOf = (verdict: Verdict) => {
    try {
      return assertServed(verdict)
    } catch (error) {
      return error
    }
  }

  expect(refusalOf('allow')).toBeUndefined()
  expect(refusalOf('deny')).toMatchObject({
    code: 'ADDRESS_BLOCKED',
    details: undefined,
    recovery: undefined,
  })
  expect(refusalOf('unknown')).toMatchObject({ code: 'SERVICE_UNAVAILABLE', details: undefined })
})

test('each party is asked about on its own chain', () => {
  expect(partiesOf({ wallet: 'a', recipient: 'b', originChain: 1, destinationChain: 2 })).toEqual([
    { address: 'a', chainId: 1, role: 'wallet' },
    { address: 'b', chainId: 2, role: 'recipient' },
  ])
})
