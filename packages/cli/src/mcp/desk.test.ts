import { expect, test } from 'vitest'
import { type Attempt, standingOf } from '../store/journal.ts'
import { currentOwner } from '../store/owner.ts'
import { attendedBy } from './desk.ts'

const owner = currentOwner()
const running = new Set(['at-it'])
const isAttended = attendedBy(running)
const standing = (attempt: object) => standingOf({ owner, ...attempt } as Attempt, isAttended)

test('a submission without an answer is gone on with by the server that made it, once its call is over', () => {
  expect(standing({ id: 'at-it', stage: 'submitting' })).toBe('busy')
  expect(standing({ id: 'over', stage: 'submitting' })).toBe('unknown')
})

test('how a swap is doing that no call follows any more is asked', () => {
  expect(standing({ id: 'at-it', stage: 'submitted' })).toBe('busy')
  expect(standing({ id: 'over', stage: 'submitted' })).toBe('ask')
})

test('what is not submitted yet belongs to the call that began it', () => {
  expect(standing({ id: 'new', stage: 'preparing' })).toBe('busy')
  expect(standing({ id: 'new', stage: 'built' })).toBe('busy')
})
