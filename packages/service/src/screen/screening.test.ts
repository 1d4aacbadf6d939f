import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createScreening, type DeniedParty } from './denials.ts'
import {
  ALLOW,
  type Answer,
  combine,
  createScreen,
  type Party,
  remember,
  type Source,
  UNKNOWN,
} from './screening.ts'

const DENY: Answer = { kind: 'deny', reason: 'listed', list: 'one', version: '1' }
const party: Party = { address: '0xa', chainId: 1, role: 'wallet' }

const source = (answer: Answer | Promise<Answer>, onUnknown: Source['onUnknown'] = 'deny'): Source => ({
  name: 'one',
  onUnknown,
  screen: () => answer,
})
const screenOf = (sources: readonly Source[], budgetMs = 10_000) =>
  createScreen({ sources, budgetMs, overrideOf: () => undefined, onOutcome() {} })

test.each<[string, [Answer, Source['onUnknown']][], Answer]>([
  ['nobody is asked', [], ALLOW],
  [
    'all allow',
    [
      [ALLOW, 'deny'],
      [ALLOW, 'allow'],
    ],
    ALLOW,
  ],
  [
    'the last denies',
    [
      [ALLOW, 'deny'],
      [UNKNOWN, 'deny'],
      [DENY, 'allow'],
    ],
    DENY,
  ],
  [
    'one that has to know does not',
    [
      [ALLOW, 'deny'],
      [UNKNOWN, 'deny'],
    ],
    UNKNOWN,
  ],
  [
    'one that need not know does not',
    [
      [ALLOW, 'deny'],
      [UNKNOWN, 'allow'],
    ],
    ALLOW,
  ],
])('if %s, that decides', (_, asked, decision) => {
  const sources = asked.map(([, onUnknown]) => ({ onUnknown }))

  expect(
    combine(
      sources,
      asked.map(([answer]) => answer),
    ),
  ).toBe(decision)
})

test('sources in memory answer at once, and so does a denial beside one that takes long', () => {
  const silent = source(new Promise<Answer>(() => {}))

  expect(screenOf([source(ALLOW)])(party)).toBe(ALLOW)
  expect(screenOf([silent, source(DENY)])(party)).toBe(DENY)
})

test('a source that takes longer than the budget is unknown', async () => {
  const silent = new Promise<Answer>(() => {})
  const slow = delay(1, DENY)

  expect(await screenOf([source(silent)], 20)(party)).toBe(UNKNOWN)
  expect(await screenOf([source(silent, 'allow')], 20)(party)).toBe(ALLOW)
  expect(await screenOf([source(silent, 'allow'), source(slow)], 200)(party)).toEqual(DENY)
})

test('the operator decides before every source', () => {
  const overrideOf = (address: string) => (address === '0xa' ? ALLOW : DENY)
  const screen = createScreen({ sources: [source(DENY)], budgetMs: 1, overrideOf, onOutcome() {} })

  expect(screen(party)).toBe(ALLOW)
  expect(screen({ ...party, address: '0xb' })).toBe(DENY)
})

type Asking = { answers: (Answer | 'fails')[]; lifeMs?: number }

function remembered({ answers, lifeMs = 1_000 }: Asking) {
  const clock = { ms: 0 }
  let asked = 0
  const failures: string[] = []
  const remembers = remember(
    {
      name: 'one',
      onUnknown: 'deny',
      keyOf: ({ address, chainId }) => (chainId === 1 ? address : undefined),
      async ask() {
        asked += 1
        const answer = answers.shift() ?? 'fails'
        if (answer === 'fails') throw new Error('silent')
        return answer
      },
    },
    { lifeMs, now: () => clock.ms, onFailure: (name) => failures.push(name) },
  )
  return { clock, asked: () => asked, failures, screen: remembers.screen }
}

test('an answer is used for its life, by callers who come together, and for covered addresses', async () => {
  const { screen, asked, clock } = remembered({ answers: [DENY, ALLOW] })

  expect(await Promise.all([screen(party), screen(party)])).toEqual([DENY, DENY])
  expect([screen(party), asked()]).toEqual([DENY, 1])
  expect([screen({ ...party, chainId: 2 }), asked()]).toEqual([ALLOW, 1])
  clock.ms = 1_000
  expect([await screen(party), asked()]).toEqual([ALLOW, 2])
})

test('after three failures one caller asks, and the others are not delayed', async () => {
  const { screen, asked, clock, failures } = remembered({
    answers: ['fails', 'fails', 'fails', 'fails', ALLOW],
  })
  const of = (address: string) => screen({ ...party, address })
  for (const address of ['1', '2', '3']) expect(await of(address)).toBe(UNKNOWN)

  expect([of('4'), asked(), failures.length]).toEqual([UNKNOWN, 3, 3])
  clock.ms = 5_000
  const probe = of('5')
  expect([of('6'), asked()]).toEqual([UNKNOWN, 4])
  expect(await probe).toBe(UNKNOWN)
  clock.ms = 10_000
  expect(await of('7')).toBe(ALLOW)
  expect(of('8')).toBeInstanceOf(Promise)
})

test('a source that does not know three addresses is asked about others, and later about these', async () => {
  const { screen, asked, clock, failures } = remembered({
    answers: [UNKNOWN, UNKNOWN, UNKNOWN, DENY, ALLOW],
  })
  const of = (address: string) => screen({ ...party, address })
  for (const address of ['1', '2', '3']) expect(await of(address)).toBe(UNKNOWN)

  expect([of('1'), asked(), failures]).toEqual([UNKNOWN, 3, []])
  expect(await of('4')).toEqual(DENY)
  clock.ms = 1_000
  expect(await of('1')).toBe(ALLOW)
})

test('an address that a source does not know is asked about again before other answers have aged', async () => {
  const { screen, clock } = remembered({ answers: [UNKNOWN, ALLOW], lifeMs: 60_000 })
  expect(await screen(party)).toBe(UNKNOWN)

  clock.ms = 5_000
  expect(await screen(party)).toBe(ALLOW)
})

function recording(answerOf: (party: Party) => Answer) {
  const clock = { ms: 0 }
  const rows: DeniedParty[] = []
  const screening = createScreening(
    { screen: answerOf, isStrict: true, insert: async (row) => void rows.push(row) },
    { onDecided() {}, onFault() {}, now: () => clock.ms },
  )
  return { clock, rows, screening }
}

const at = { point: 'quote', accountId: 'acct' } as const

test('a caller who repeats a denied quote writes one row an hour', () => {
  const { screening, rows, clock } = recording(() => DENY)

  for (let call = 0; call < 1_000; call += 1) expect(screening.ofCaller([party], at)).toBe('deny')
  expect(rows).toEqual([{ ...party, ...at, reason: 'listed', list: 'one', version: '1' }])
  clock.ms = 3_600_000
  screening.ofCaller([party], at)
  expect(rows).toHaveLength(2)
})

test('callers with many addresses write sixty rows a minute', () => {
  const { screening, rows, clock } = recording(() => DENY)
  const ask = (count: number) => {
    for (let index = 0; index < count; index += 1)
      screening.ofCaller([{ ...party, address: `${clock.ms} ${index}` }], at)
  }

  ask(10_000)
  expect(rows).toHaveLength(60)
  clock.ms = 60_000
  ask(10)
  expect(rows).toHaveLength(70)
})

test('a denial is stored without control characters, and cut', async () => {
  const long = 'x'.repeat(10_000)
  const odd = { kind: 'deny', reason: 'theft\0\u001b[2J', list: `\0${long}`, version: long } as const
  const { screening, rows } = recording(() => odd)

  await screening.ofSwap([party], { point: 'lock', swapId: 'swp' })
  screening.ofCaller([party], at)

  const stored = { reason: 'theft??[2J', list: `?${'x'.repeat(199)}`, version: 'x'.repeat(200) }
  expect(rows).toMatchObject([stored, stored])
})

test('a denial of a swap is stored before it is told', async () => {
  const screening = createScreening(
    { screen: () => DENY, isStrict: true, insert: () => Promise.reject(new Error('no database')) },
    { onDecided() {}, onFault() {} },
  )

  await expect(screening.ofSwap([party], { point: 'delivery', swapId: 'swp' })).rejects.toThrow('no database')
})

test.each<[Answer[], string]>([
  [[ALLOW, ALLOW], 'allow'],
  [[ALLOW, UNKNOWN], 'unknown'],
  [[UNKNOWN, DENY], 'deny'],
])('of the parties %j the decision is %s', async (answers, verdict) => {
  const { screening } = recording(({ address }) => answers[Number(address)] ?? ALLOW)
  const parties = answers.map((_, index) => ({ ...party, address: `${index}` }))

  expect(screening.ofCaller(parties, at)).toBe(verdict)
  expect(await screening.ofSwap(parties, { point: 'lock', swapId: 'swp' })).toBe(verdict)
})
