import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Heads } from '../chains/chain.ts'
import type { ViewReader } from '../chains/view.ts'
import type { Pace } from '../swap/pace.ts'
import { createViewParts } from './chain-follower.ts'

const pace = { costsMs: 100, stateMs: 1_000, poolsMs: 5_000 } as Pace

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const headsAt = (hash: string) => ({ head: { hash } }) as Heads

/** Parts whose reader names the head of each answer, and does not answer for the failing one. */
function partsOf() {
  const world: { failing?: string } = {}
  const asked: string[] = []
  const answer = (part: string) => async (at: Heads) => {
    asked.push(part)
    if (part === world.failing) throw new Error(`no ${part}`)
    return `${part} ${at.head.hash}`
  }
  const reader = { readCosts: answer('costs'), readState: answer('state'), readPools: answer('pools') }
  return { world, asked, parts: createViewParts(reader as unknown as ViewReader) }
}

test('all parts are read at the first head, and later each that is old enough', async () => {
  const { parts, asked } = partsOf()
  await parts.read(headsAt('a'), pace)
  const read: string[][] = [asked.splice(0)]
  for (const ms of [99, 1, 900, 4_000]) {
    vi.advanceTimersByTime(ms)
    await parts.read(headsAt(`after ${ms}`), pace)
    read.push(asked.splice(0))
  }

  expect(read).toEqual([
    ['costs', 'state', 'pools'],
    [],
    ['costs'],
    ['costs', 'state'],
    ['costs', 'state', 'pools'],
  ])
})

test('a part that was not read again keeps its answer, and its age grows', async () => {
  const { parts } = partsOf()
  await parts.read(headsAt('a'), pace)
  vi.advanceTimersByTime(400)
  await parts.read(headsAt('b'), pace)
  vi.advanceTimersByTime(50)

  expect(parts.current()).toEqual({ costs: 'costs b', state: 'state a', pools: 'pools a' })
  expect(parts.ages()).toEqual({ costs: 50, state: 450, pools: 450 })
})

test('parts are read once for each head', async () => {
  const { parts } = partsOf()
  const before = parts.isDue(headsAt('a'), pace)
  await parts.read(headsAt('a'), pace)

  expect([before, parts.isDue(headsAt('a'), pace), parts.isDue(headsAt('b'), pace)]).toEqual([
    true,
    false,
    true,
  ])
})

test('a part that fails is reported, and read again after a second, at the same head too', async () => {
  const { parts, world, asked } = partsOf()
  world.failing = 'state'
  const { read, fault } = await parts.read(headsAt('a'), pace)
  const failed = { read, fault, ages: parts.ages(), current: { ...parts.current() } }
  vi.advanceTimersByTime(999)
  const early = [parts.isDue(headsAt('a'), pace), parts.isDue(headsAt('b'), pace)]
  vi.advanceTimersByTime(1)
  const late = parts.isDue(headsAt('a'), pace)
  asked.length = 0
  world.failing = ''
  const again = await parts.read(headsAt('a'), pace)

  const others = { costs: 'costs a', pools: 'pools a' }
  expect(failed).toEqual({
    read: others,
    fault: new Error('no state'),
    ages: { costs: 0, pools: 0 },
    current: others,
  })
  expect([early, late]).toEqual([[false, false], true])
  expect(asked).toEqual(['costs', 'state'])
  expect(again).toEqual({ read: { costs: 'costs a', state: 'state a' } })
})

test('while a swap waits to be priced, the state is read at the known head if it is of an older one', async () => {
  const { parts, asked } = partsOf()
  const pricing = { ...pace, stateMs: 0 }
  await parts.read(headsAt('a'), pace)
  await parts.read(headsAt('b'), pace)
  const due = [parts.isDue(headsAt('b'), pace), parts.isDue(headsAt('b'), pricing)]
  asked.length = 0
  await parts.read(headsAt('b'), pricing)

  expect(due).toEqual([false, true])
  expect(asked).toEqual(['state'])
  expect([parts.stateOf(), parts.isDue(headsAt('b'), pricing)]).toEqual([headsAt('b').head.hash, false])
})
