import { expect, test } from 'vitest'
import type { Side } from '../catalog.ts'
import { type Attempt, standingOf } from '../store/journal.ts'
import { currentOwner } from '../store/owner.ts'
import type { ChosenWallet } from '../wallets.ts'
import { attendedBy, choosePayer } from './desk.ts'

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

test('what a process was at that is dead is gone on with, or asked about', () => {
  // No process has this number: it is above what Linux gives.
  const dead = { pid: 2 ** 22 + 1, startedAt: '1' }

  expect(standing({ id: 'over', stage: 'submitting', owner: dead })).toBe('unknown')
  expect(standing({ id: 'at-it', stage: 'submitted', owner: dead })).toBe('ask')
})

const wallets: ChosenWallet[] = [
  { name: 'sun', family: 'solana', address: 'S' },
  { name: 'bot', family: 'evm', address: 'B' },
  { name: 'cat', family: 'evm', address: 'C' },
]
const alpha = { chain: { family: 'evm', name: 'alpha' } } as Side

test('the first wallet that fits the chain pays, or the one that is named', () => {
  expect(choosePayer({ wallets }, alpha).name).toBe('bot')
  expect(choosePayer({ wallets }, alpha, 'cat').name).toBe('cat')
})

test.each([
  ['sun', wallets, 'There are: bot, cat.'],
  [undefined, [], 'There are: none.'],
])('a wallet that cannot pay there is refused: %s', (named, some, advice) => {
  expect(() => choosePayer({ wallets: some }, alpha, named)).toThrow(
    expect.objectContaining({ code: 'NO_WALLET', advice: expect.stringContaining(advice) }),
  )
})
