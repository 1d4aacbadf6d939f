import { expect, test } from 'vitest'
import { refundCommand, standingOf } from './next.ts'

const unknown = { deadlines: {} }

test('a pending swap names both possible ends and the signed deadlines', () => {
  const deadlines = { fill: 1_767_323_834, refund: 1_767_324_603 }
  const { where, next } = standingOf({ status: 'pending', substatus: 'locked' }, { deadlines })

  expect(where).toContain('escrow')
  expect(next).toContain(new Date(deadlines.fill * 1_000).toLocaleTimeString())
  expect(next).toContain(`After ${new Date(deadlines.refund * 1_000).toLocaleTimeString()} anyone`)
})

test('without the signed operation no time is shown', () => {
  expect(standingOf({ status: 'pending', substatus: 'locked' }, unknown).next).not.toMatch(/\d/)
})

test.each([
  ['settled', 'recipient'],
  ['failed', 'never left'],
  ['refunded', 'back'],
] as const)('a swap that is %s says where the funds are', (status, words) => {
  expect(standingOf({ status, substatus: 'delivered' }, unknown).where).toContain(words)
})

test.each([
  [{ isLocal: true, rpcUrl: 'http://127.0.0.1:8545' }, 'npx geoswap refund --operation a.json'],
  [
    { isLocal: false, rpcUrl: 'https://node.example/v1' },
    'geoswap refund --operation a.json --rpc https://node.example/v1',
  ],
  [
    { isLocal: false, rpcUrl: 'https://node.example/?a=1&b=2' },
    'geoswap refund --operation a.json --rpc URL',
  ],
  [{ isLocal: false, rpcUrl: undefined }, 'geoswap refund --operation a.json --rpc URL'],
])('the command of a refund works outside a clone too: %j', (known, command) => {
  expect(refundCommand('a.json', known)).toBe(command)
})
