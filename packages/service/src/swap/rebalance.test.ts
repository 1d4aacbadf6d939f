import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Cell, neededOf, type Plan, planRebalance } from './rebalance.ts'

const MARGIN_BPS = 2_500n

const cellOf = (chainId: number, amounts: Partial<Cell>): Cell => ({
  ...{ chainId, token: `t${chainId}`, asset: 'USDC', decimals: 6, free: 0n, paidOut: 0n, takenIn: 0n },
  ...amounts,
})

const amount = fc.bigInt({ min: 0n, max: 10n ** 24n })
const cellsOf = (decimals: fc.Arbitrary<number>) =>
  fc
    .array(
      fc.record({
        ...{ asset: fc.constantFrom('USDC', 'ETH'), decimals },
        ...{ free: amount, paidOut: amount, takenIn: amount },
      }),
      { maxLength: 8 },
    )
    .map((list) => list.map((cell, chainId) => cellOf(chainId, cell)))

const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n)
const given = ({ transports }: Plan, cell: Cell) =>
  sum(transports.filter(({ from }) => from.chainId === cell.chainId).map((each) => each.amount))

test.each([
  [1_000n, 400n, 850n],
  [1_000n, 1_000n, 250n],
  [1_000n, 9_000n, 250n],
])('%i paid out and %i taken in need %i, with a margin for what is paid out', (paidOut, takenIn, needed) => {
  expect(neededOf({ paidOut, takenIn }, MARGIN_BPS)).toBe(needed)
})

describe('a plan to rebalance', () => {
  test('returns outflows from chains that accumulate the asset', () => {
    const { transports, shortages, cells } = planRebalance(
      [
        cellOf(1, { free: 100n, paidOut: 1_000n }),
        cellOf(2, { free: 5_000n, takenIn: 1_000n }),
        cellOf(3, { free: 300n, paidOut: 200n, takenIn: 200n }),
      ],
      MARGIN_BPS,
    )

    expect(transports.map(({ from, to, amount }) => [from.chainId, to.chainId, amount])).toEqual([
      [2, 1, 1_150n],
    ])
    expect(shortages).toEqual([])
    expect(cells.map(({ needed, after }) => [needed, after])).toEqual([
      [1_250n, 1_250n],
      [0n, 3_850n],
      [50n, 300n],
    ])
  })

  test('reports the shortage if no chain has a surplus', () => {
    const short = cellOf(1, { free: 100n, paidOut: 1_000n })
    const busy = cellOf(2, { free: 1_300n, paidOut: 1_000n })

    const plan = planRebalance([short, busy], MARGIN_BPS)

    expect(plan.transports.map(({ amount }) => amount)).toEqual([50n])
    expect(plan.shortages).toEqual([{ cell: short, amount: 1_100n }])
  })

  test('serves the largest shortage first, whatever the order', () => {
    const nearly = cellOf(1, { free: 1_200n, paidOut: 1_000n })
    const empty = cellOf(2, { paidOut: 240n })
    const giver = cellOf(3, { free: 300n })
    const served = (...cells: Cell[]) =>
      planRebalance(cells, MARGIN_BPS).transports.map(({ to }) => to.chainId)

    expect(served(nearly, empty, giver)).toEqual([2])
    expect(served(giver, empty, nearly)).toEqual([2])
  })

  test('takes from the largest surplus first, to need few transports', () => {
    const short = cellOf(1, { paidOut: 800n })
    const [little, much] = [cellOf(2, { free: 999n }), cellOf(3, { decimals: 18, free: 10n ** 16n })]
    const givers = (...cells: Cell[]) =>
      planRebalance(cells, MARGIN_BPS).transports.map(({ from }) => from.chainId)

    expect(givers(short, little, much)).toEqual([3])
    expect(givers(much, little, short)).toEqual([3])
  })

  test('counts the same asset in the units of two chains', () => {
    const plan = planRebalance(
      [
        cellOf(1, { paidOut: 8_000_000n }),
        cellOf(2, { decimals: 18, free: 10n ** 20n, takenIn: 8n * 10n ** 18n }),
      ],
      MARGIN_BPS,
    )

    expect(plan.transports).toMatchObject([{ amount: 10n ** 19n, arrives: 10_000_000n }])
  })

  test('needs one transport if the smallest unit of the other chain is more than what is missing', () => {
    const short = cellOf(1, { decimals: 18, paidOut: 12n * 10n ** 11n })
    const plan = planRebalance([short, cellOf(2, { free: 9n }), cellOf(3, { free: 8n })], MARGIN_BPS)

    expect(plan.transports).toMatchObject([{ amount: 2n, arrives: 2n * 10n ** 12n }])
  })

  test('leaves amounts below the smallest unit of the other chain', () => {
    const dust = cellOf(2, { decimals: 18, free: 10n ** 12n - 1n })

    expect(planRebalance([cellOf(1, { paidOut: 1n }), dust], MARGIN_BPS).transports).toEqual([])
  })

  test('never moves more than the free amount, nor what the chain itself needs, nor another asset', () => {
    fc.assert(
      fc.property(cellsOf(fc.constantFrom(6, 9, 18)), (cells) => {
        const plan = planRebalance(cells, MARGIN_BPS)
        for (const cell of plan.cells) {
          const spare = cell.free > cell.needed ? cell.free - cell.needed : 0n
          expect(given(plan, cell)).toBeLessThanOrEqual(spare)
        }
        for (const { from, to } of plan.transports) expect(from.asset).toBe(to.asset)
      }),
    )
  })

  test('covers every chain if the total suffices, and loses nothing on the way', () => {
    fc.assert(
      fc.property(cellsOf(fc.constant(6)), (cells) => {
        const plan = planRebalance(cells, MARGIN_BPS)
        for (const asset of ['USDC', 'ETH']) {
          const ours = plan.cells.filter((cell) => cell.asset === asset)
          const free = sum(ours.map((cell) => cell.free))
          const needed = sum(ours.map((cell) => cell.needed))
          expect(sum(ours.map(({ after }) => after))).toBe(free)
          if (free >= needed) expect(ours.every((cell) => cell.after >= cell.needed)).toBe(true)
          const missing = sum(
            plan.shortages.filter(({ cell }) => cell.asset === asset).map((each) => each.amount),
          )
          expect(missing).toBe(needed > free ? needed - free : 0n)
        }
      }),
    )
  })
})
