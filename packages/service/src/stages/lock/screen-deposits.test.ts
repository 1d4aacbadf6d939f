import { describe, expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import type { Block, DepositTransfer } from '../../chains/chain.ts'
import type { Party } from '../../screen/screening.ts'
import type { Swap } from '../../swap/swap.ts'
import { createDepositScreening, judgeSenders, judgeTaken } from './screen-deposits.ts'

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

const op = { wallet: 'w', recipient: 'r', originChain: 1, destinationChain: 2, inputAmount: INPUT }
type Facts = { received?: bigint; version?: number }
const swapOf = ({ received, version = 1 }: Facts = {}) =>
  stub<Swap>({
    id: 'swp',
    version,
    op,
    deposit: received === undefined ? undefined : { received: `${received}` },
  })

type Looks = (since: bigint | undefined) => readonly DepositTransfer[] | Promise<readonly DepositTransfer[]>
type Kept = { denied?: readonly string[]; isStrict?: boolean; isWhole?: boolean; meanwhile?: () => void }

function screened(transfers: Looks, { denied = [], isStrict = true, isWhole = true, meanwhile }: Kept = {}) {
  const events: string[] = []
  const looked: (bigint | undefined)[] = []
  const screening = createDepositScreening({
    ways: {
      async findDepositTransfers(_op, { since }) {
        looked.push(since)
        return { transfers: await transfers(since), isWhole }
      },
    },
    screening: {
      isStrict,
      async ofSwap(parties: readonly Party[]) {
        meanwhile?.()
        return parties.some(({ address }) => denied.includes(address)) ? 'deny' : 'allow'
      },
    },
    onWaiting: () => events.push('waiting'),
    onDecided: () => events.push('decided'),
  })
  let height = 8n
  const look = (received: bigint, since?: bigint, known?: Facts) => {
    height += 1n
    const at: Block = { number: height, height, hash: `0x${height}`, seconds: 0 }
    return screening.verdictOf({ swap: swapOf(known), received, since, at }).kind
  }
  return { events, looked, look, decide: screening.decide, forget: () => screening.forget('swp') }
}

const sent = (id: string, amount: bigint, from = 'a'): DepositTransfer => ({ id, from, amount })

test('a look at a deposit never waits: it is decided apart, and then told', async () => {
  const { look, decide, events } = screened(() => [sent('1', 100n)])

  expect([look(100n), look(100n)]).toEqual(['wait', 'wait'])
  await decide([])
  expect(look(100n)).toBe('allow')
  expect(events).toEqual(['waiting', 'decided'])
})

test('terms that name a denied party are denied whoever sent the deposit', async () => {
  const { look, decide } = screened(() => [sent('1', 100n)], { denied: ['r'] })
  look(100n)

  await decide([])

  expect(look(100n)).toBe('deny')
})

test('a deposit that grows is decided again, with what was seen before', async () => {
  const found = [[sent('1', 60n), sent('2', 50n, 'bad')], [sent('3', 60n)]]
  const { look, decide, looked } = screened(() => found.shift() ?? [], { denied: ['bad'] })
  look(110n, 7n)
  await decide([])
  expect(look(170n, 9n)).toBe('wait')
  await decide([])

  expect(look(170n)).toBe('allow')
  expect(looked).toEqual([7n, 9n])
})

test('a part that came before the last look is looked for, and who sent it counts', async () => {
  const parts = [sent('2', 1n), sent('1', 99n, 'bad')]
  const { look, decide, looked } = screened((since) => parts.slice(0, since === undefined ? 2 : 1), {
    denied: ['bad'],
    isStrict: false,
  })
  look(100n, 8n, { received: 99n })
  await decide([])

  expect(look(100n, 8n, { received: 100n })).toBe('deny')
  expect(looked).toEqual([undefined])
})

test('a deposit in two parts is accepted', async () => {
  const parts = [sent('2', 40n), sent('1', 60n)]
  const { look, decide } = screened((since) => parts.slice(0, since === undefined ? 2 : 1))
  look(100n, 8n, { received: 60n })
  await decide([])

  expect(look(100n, 8n, { received: 100n })).toBe('allow')
})

test('blocks before the last look are read once, if later ones do not explain the amount', async () => {
  const parts = [sent('2', 1n), sent('1', 98n, 'bad')]
  const { look, decide, looked } = screened((since) => parts.slice(0, since === undefined ? 2 : 1))
  look(100n, 7n)
  await decide([])
  look(100n, 8n)
  await decide([])
  look(101n, 9n)
  await decide([])

  expect(looked).toEqual([7n, undefined, 9n, 10n])
})

test.each([
  [true, true, 'wait'],
  [false, false, 'wait'],
  [false, true, 'allow'],
])(
  'without a sender, if one must be known: %s, and all blocks were read: %s: %s',
  async (isStrict, isWhole, kind) => {
    const { look, decide } = screened(() => [], { isStrict, isWhole })
    look(100n, 7n)
    await decide([])

    expect(look(100n)).toBe(kind)
  },
)

test('a look that failed is made from its block, also if the deposit has grown', async () => {
  let isSilent = true
  const { look, decide, looked } = screened(() => {
    if (isSilent) throw new Error('silent')
    return [sent('1', 101n)]
  })
  look(100n, 7n)
  await decide([])
  isSilent = false
  look(101n, 8n, { received: 100n })
  await decide([])

  expect([look(101n), looked]).toEqual(['allow', [7n, 7n]])
})

test('dust drops no decision, before it is told or after', async () => {
  let dust = 0
  const { look, decide, looked } = screened(() => [sent('1', 100n)], {
    meanwhile: () => look(101n + BigInt(dust++)),
  })
  look(100n)
  await decide([])

  expect(dust).toBeGreaterThan(0)
  expect([look(200n), look(201n), looked.length]).toEqual(['allow', 'allow', 1])
})

test('a denial of what has grown meanwhile is decided again', async () => {
  const found = [[sent('1', 100n, 'bad')], [sent('2', 100n)]]
  let isFirst = true
  const meanwhile = () => {
    if (isFirst) look(200n)
    isFirst = false
  }
  const { look, decide } = screened(() => found.shift() ?? [], { denied: ['bad'], meanwhile })
  look(100n)
  await decide([])

  expect(look(200n)).toBe('wait')
  await decide([])
  expect(look(200n)).toBe('allow')
})

test.each<[string, (of: ReturnType<typeof screened>) => string]>([
  ['fell', ({ look }) => look(100n, 8n, { received: 101n })],
  [
    'was gone',
    ({ look, forget }) => {
      forget()
      return look(101n, 8n, { received: 0n })
    },
  ],
  ['came back after its swap moved', ({ look }) => look(101n, 8n, { received: 0n, version: 3 })],
])('a deposit that %s is decided anew, and all its transfers are looked for', async (_, again) => {
  let from = 'a'
  const of = screened(() => [sent(from, 101n, from)], { denied: ['bad'] })
  of.look(101n, 7n)
  await of.decide([])
  from = 'bad'

  expect(again(of)).toBe('wait')
  await of.decide([])
  expect(of.looked).toEqual([7n, undefined])
})

test('a decision about a deposit that was gone meanwhile is not told', async () => {
  let isFirst = true
  const { look, decide, forget } = screened(() => [sent('1', 100n)], {
    meanwhile() {
      if (!isFirst) return
      isFirst = false
      forget()
      look(100n)
    },
  })
  look(100n)
  await decide([])

  expect(look(100n)).toBe('wait')
})

test('a transfer that a reorg undid is looked for anew', async () => {
  const found = [[sent('1', 60n)], [], [sent('2', 100n)], [sent('2', 100n)]]
  const { look, decide, looked } = screened(() => found.shift() ?? [])
  look(100n, 7n)
  await decide([])
  look(100n, 8n)
  await decide([])

  expect(look(100n)).toBe('allow')
  expect(looked).toEqual([7n, undefined, 9n, undefined])
})

test('a deposit that could not be decided is tried again, and stops no other', async () => {
  let isSilent = true
  const { look, decide } = screened(() => {
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

describe('the money that the lock of a payment took', () => {
  const judgeOf = (found: readonly DepositTransfer[], isLocked = true) => {
    const screening = {
      isStrict: false,
      ofSwap: async ([party]: readonly Party[]) =>
        party?.address === 'bad' ? 'deny' : party?.address === 'odd' ? 'unknown' : 'allow',
    } as const
    const findTakenTransfers = async (_op: unknown, lock: string) => {
      expect(lock).toBe('0xlock')
      return found
    }
    const deps = stub<Parameters<typeof judgeTaken>[0]>({ ways: { findTakenTransfers }, screening })
    return judgeTaken(deps, stub<Swap>({ id: 'swp', op, originTxHash: isLocked ? '0xlock' : undefined }))
  }

  test.each<[string, readonly DepositTransfer[], string]>([
    ['of the wallet is allowed', [sent('1', 100n, 'w')], 'allow'],
    [
      'of the wallet is allowed beside that of others',
      [sent('1', 100n, 'bad'), sent('2', 100n, 'w')],
      'allow',
    ],
    ['of one who is served is allowed', [sent('1', 100n, 'a')], 'allow'],
    ['of one who is denied is denied', [sent('1', 100n, 'bad')], 'deny'],
    ['of the wallet in part is denied with the rest', [sent('1', 99n, 'w'), sent('2', 1n, 'bad')], 'deny'],
    ['of one who is not known waits', [sent('1', 100n, 'odd')], 'wait'],
    ['of which the nodes do not tell waits', [], 'wait'],
  ])('%s', async (_, found, kind) => {
    expect((await judgeOf(found)).kind).toBe(kind)
  })

  test('waits for the lock that is recorded', async () => {
    expect((await judgeOf([sent('1', 100n, 'w')], false)).kind).toBe('wait')
  })
})
