import type { Side } from '@geoswap/wallet/catalog'
import { type Attempt, standingOf } from '@geoswap/wallet/store/journal'
import { currentOwner } from '@geoswap/wallet/store/owner'
import type { ChosenWallet } from '@geoswap/wallet/wallets'
import { expect, test } from 'vitest'
import { attendedBy, choosePayer } from './mcp-context.ts'

const owner = currentOwner()
const running = new Set(['at-it'])
const isAttended = attendedBy(running)
const standing = (attempt: object) => standingOf({ owner, ...attempt } as Attempt, isAttended)

test('an unanswered submission is continued by its own server once its call is over', () => {
  expect(standing({ id: 'at-it', stage: 'submitting' })).toBe('busy')
  expect(standing({ id: 'over', stage: 'submitting' })).toBe('unknown')
})

test('the service is asked about a swap that no call follows any more', () => {
  expect(standing({ id: 'at-it', stage: 'submitted' })).toBe('busy')
  expect(standing({ id: 'over', stage: 'submitted' })).toBe('ask')
})

test('an attempt before its submission belongs to the call that began it', () => {
  expect(standing({ id: 'new', stage: 'preparing' })).toBe('busy')
  expect(standing({ id: 'new', stage: 'built' })).toBe('busy')
})

test('the attempt of a dead process is continued, or the service is asked about it', () => {
  // No process has this id: it is above the Linux maximum.
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

test('the first wallet that fits the chain pays, or the named one', () => {
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
