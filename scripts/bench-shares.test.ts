import { expect, test } from 'vitest'
import { describeShares, type Process, partsOf, sharesOf, withShares } from '../test/bench/shares.ts'

const LAUNCHER = 2
const used = (own: number, { parent = LAUNCHER, ended = 0 } = {}): Process => ({ parent, own, ended })
const at = (busy: number, processes: Record<number, Process>) => ({
  busy,
  processes: new Map(Object.entries(processes).map(([pid, of]) => [Number(pid), of])),
})

test('children count as their part, also after they have ended', () => {
  const parts = new Map([
    [10, 'API'],
    [20, 'PostgreSQL'],
  ])
  const before = at(100, { 10: used(1), 20: used(5), 21: used(3, { parent: 20 }) })
  const after = at(110, { 10: used(3), 20: used(6, { ended: 4 }), 22: used(2, { parent: 20 }) })

  const { parts: shares, busiest } = sharesOf(parts, { before, after, seconds: 2 })

  expect(Object.fromEntries(shares)).toEqual({ API: 1, PostgreSQL: 2, elsewhere: 2 })
  expect(busiest).toEqual({ part: 'API', share: 1 })
})

test('several API processes have a balancer, and other children of the bench do not count as its load', () => {
  const of = (seconds: number, parent = process.pid) => used(seconds, { parent })
  const before = at(0, { [process.pid]: used(0), 9: of(0), 10: of(0, 9), 11: of(0), 12: of(0), 30: of(0) })
  const after = at(10, {
    [process.pid]: used(1, { ended: 1 }),
    9: of(1),
    10: of(2, 9),
    11: of(0.5),
    12: of(0.5),
    30: of(4),
  })
  const parts = partsOf({ api: [10], alpha: [11], beta: [12] }, before.processes)

  const { parts: shares } = sharesOf(parts, { before, after, seconds: 1 })

  const network = { balancer: 1, API: 2, chains: 1 }
  expect(Object.fromEntries(shares)).toEqual({ 'load generator': 2, ...network, elsewhere: 4 })
})

test('without a balancer the API is a child of the bench', () => {
  const processes = new Map([[10, used(0, { parent: process.pid })]])

  expect(partsOf({ api: [10] }, processes)).toEqual(
    new Map([
      [process.pid, 'load generator'],
      [10, 'API'],
    ]),
  )
})

const limitOf = (share: number, busiest: number) => {
  const shares = { parts: new Map([['API', share]]), busiest: { part: 'API', share: busiest } }
  return describeShares(shares, 2)
}

test('a figure names its limiting resource', () => {
  expect(limitOf(1.9, 0.95)).toBe('The machine is full. CPU 190% of 200%: API 190%')
  expect(limitOf(1.2, 0.97)).toBe('A process is full: API. CPU 120% of 200%: API 120%')
  expect(limitOf(0.4, 0.2)).toBe('Nothing is full: it waits. CPU 40% of 200%: API 40%')
})

test('the load of this process is measured', async () => {
  const { shares } = await withShares({}, async () => {
    const end = performance.now() + 300
    while (performance.now() < end);
  })

  expect(shares).toMatch(/load generator [1-9]\d*%|no \/proc/)
})
