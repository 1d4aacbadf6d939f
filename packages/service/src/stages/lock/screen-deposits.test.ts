import { expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import type { Block, DepositTransfer } from '../../chains/chain.ts'
import type { Party } from '../../screen/screening.ts'
import type { Swap } from '../../swap/swap.ts'
import { createDepositScreening, judgeSenders } from './screen-deposits.ts'

const INPUT = 100n

type Sent = [from: string, amount: bigint][]
const toTransfers = (sent: Sent) =>
  new Map(sent.map(([from, amount], index) => [`${index}`, { id: `${index}`, from, amount }]))

const judge = (sent: Sent, received: bigint, isStrict = true) =>
  judgeSenders(
    { inputAmount: INPUT },
    { received, transfers: toTransfers(sent) },
    isStrict,
    async (address) => (address.startsWith('bad') ? 'deny' : address.startsWith('odd') ? 'unknown' : 'allow'),
  )
const allow = (...senders: string[]) => ({ kind: 'allow', senders })

test.each<[string, Sent, bigint, object]>([
  ['sent by one who is served', [['a', 100n]], 100n, allow('a')],
  [
    'sent in parts',
    [
      ['a', 40n],
      ['b', 60n],
    ],
    100n,
    allow('b', 'a'),
  ],
  [
    'sent in parts by one',
    [
      ['a', 40n],
      ['a', 60n],
    ],
    100n,
    allow('a'),
  ],
  ['of one who is denied', [['bad', 100n]], 100n, { kind: 'deny' }],
  [
    'that lacks what one sent who is denied',
    [
      ['a', 60n],
      ['bad', 40n],
    ],
    100n,
    { kind: 'deny' },
  ],
  [
    'with dust of one who is denied',
    [
      ['bad', 1n],
      ['a', 100n],
    ],
    101n,
    allow('a'),
  ],
  [
    'with more from one who is denied',
    [
      ['bad', 500n],
      ['a', 100n],
    ],
    600n,
    allow('a'),
  ],
  ['of one whom nobody knows', [['odd', 100n]], 100n, { kind: 'wait' }],
  ['whose sender is not found', [], 100n, { kind: 'wait' }],
  ['that a part is known of', [['a', 60n]], 100n, { kind: 'wait' }],
])('a deposit %s is decided', async (_, sent, received, verdict) => {
  expect(await judge(sent, received)).toEqual(verdict)
})

test('somebody unknown is accepted if no source has to know', async () => {
  expect(await judge([], 100n, false)).toEqual(allow())
  expect(
    await judge(
      [
        ['odd', 60n],
        ['a', 40n],
      ],
      100n,
      false,
    ),
  ).toEqual(allow('a'))
  expect(
    await judge(
      [
        ['odd', 50n],
        ['bad', 50n],
      ],
      100n,
      false,
    ),
  ).toEqual({ kind: 'deny' })
})

test('a thousand strangers cannot hold up a deposit', async () => {
  const strangers = Array.from({ length: 1_000 }, (_, index): [string, bigint] => [`bad${index}`, 1n])

  expect(await judge([...strangers, ['a', 100n]], 1_100n)).toEqual(allow('a'))
})

const block = (number: bigint): Block => ({ number, height: number, hash: `0x${number}`, seconds: 0 })
const op = { wallet: 'w', recipient: 'r', originChain: 1, destinationChain: 2, inputAmount: INPUT }
const swap = stub<Swap>({ id: 'swp', op })

function screened(transfers: () => Promise<DepositTransfer[]>, denied: readonly string[] = []) {
  const events: string[] = []
  const looked: (bigint | undefined)[] = []
  const screening = createDepositScreening({
    ways: {
      findDepositTransfers(_op, { since }) {
        looked.push(since)
        return transfers()
      },
    },
    screening: {
      isStrict: true,
      ofSwap: async (parties: readonly Party[]) =>
        parties.some(({ address }) => denied.includes(address)) ? 'deny' : 'allow',
    },
    onWaiting: () => events.push('waiting'),
    onDecided: () => events.push('decided'),
  })
  const look = (received: bigint, since?: bigint) =>
    screening.verdictOf({ swap, received, since, at: block(9n) }).kind
  return { events, looked, look, decide: screening.decide }
}

const sent = (id: string, amount: bigint): DepositTransfer => ({ id, from: 'a', amount })

test('a look at a deposit never waits: it is decided apart, and then told', async () => {
  const { look, decide, events } = screened(async () => [sent('1', 100n)])

  expect([look(100n), look(100n)]).toEqual(['wait', 'wait'])
  await decide([])
  expect(look(100n)).toBe('allow')
  expect(events).toEqual(['waiting', 'decided'])
})

test('terms that name a denied party are denied whoever sent the deposit', async () => {
  const { look, decide } = screened(async () => [sent('1', 100n)], ['r'])
  look(100n)

  await decide([])

  expect(look(100n)).toBe('deny')
})

test('a deposit that grows is decided again, with what was seen before', async () => {
  const found = [[sent('1', 60n)], [sent('2', 60n)]]
  const { look, decide, looked } = screened(async () => found.shift() ?? [])
  look(110n, 7n)
  await decide([])
  expect(look(120n, 8n)).toBe('wait')
  await decide([])

  expect(look(120n)).toBe('allow')
  expect(looked).toEqual([7n, 8n])
})

test('a transfer that a reorg undid is looked for anew', async () => {
  const found = [[sent('1', 100n)], [sent('2', 100n)], [sent('2', 100n)]]
  const { look, decide, looked } = screened(async () => found.shift() ?? [])
  look(101n, 7n)
  await decide([])
  look(100n, 8n)
  await decide([])

  expect(look(100n)).toBe('allow')
  expect(looked).toEqual([7n, 8n, undefined])
})

test('a deposit that could not be decided is tried again, and stops no other', async () => {
  let isSilent = true
  const { look, decide } = screened(async () => {
    if (isSilent) throw new Error('silent')
    return [sent('1', 100n)]
  })
  const faults: unknown[] = []
  look(100n)
  await decide(faults)
  isSilent = false

  expect([look(100n), faults.length]).toEqual(['wait', 1])
  await decide(faults)
  expect(look(100n)).toBe('allow')
})
