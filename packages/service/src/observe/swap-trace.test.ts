import { expect, test } from 'vitest'
import type { EndedSwap } from '../store/ended-swaps.ts'
import { parseTraceParent, spansOf, traceOf } from './otlp.ts'

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second))
const swap: EndedSwap = {
  id: 'swp_1',
  status: 'settled',
  reason: null,
  originChain: 31_337,
  destinationChain: 31_338,
  createdAt: at(0),
  timeline: [
    { stage: 'accepted', at: at(0).toISOString() },
    { stage: 'locked', at: at(2).toISOString(), chainId: 31_337, txHash: '0xlock' },
    { stage: 'delivered', at: at(5).toISOString(), chainId: 31_338, txHash: '0xdeliver' },
  ],
  attempts: [
    {
      role: 'lock',
      chainId: 31_337,
      txHash: '0xlock',
      replacement: 0,
      createdAt: at(1),
      finalAt: at(9),
    },
  ],
}

test('a swap is one trace: the whole, each stage since the previous one, each transaction', () => {
  const [root, ...children] = spansOf(swap)

  expect(root).toMatchObject({ ...traceOf('swp_1'), name: 'swap', failed: false })
  expect([root?.startMs, root?.endMs]).toEqual([at(0).getTime(), at(5).getTime()])
  expect(children.map(({ name, startMs, endMs }) => [name, endMs - startMs])).toEqual([
    ['accepted', 0],
    ['locked', 2_000],
    ['delivered', 3_000],
    ['transaction lock', 8_000],
  ])
  expect(new Set(children.map(({ parentId }) => parentId))).toEqual(new Set([root?.spanId]))
  expect(new Set(spansOf(swap).map(({ spanId }) => spanId)).size).toBe(5)
})

test('the same swap always gives the same spans', () => {
  expect(spansOf(swap)).toEqual(spansOf({ ...swap }))
  expect(traceOf('swp_1')).not.toEqual(traceOf('swp_2'))
})

test.each([
  ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', true],
  ['00-00000000000000000000000000000000-b7ad6b7169203331-01', false],
  ['00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01', false],
  ['01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', false],
  ['00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01', false],
  ["' or 1=1", false],
  [undefined, false],
])('a caller’s traceparent %s is accepted: %s', (text, isOne) => {
  expect(parseTraceParent(text) !== undefined).toBe(isOne)
})
