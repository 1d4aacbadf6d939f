import { expect, test } from 'vitest'
import { checkNodes, type NodeView } from './findings.ts'

const NOW = 1_800_000_000_000
const seconds = NOW / 1_000

/** Nodes with these answers; an error stands for a silent node. */
function check(views: readonly (NodeView | Error)[], chain: string | null = '8453') {
  const urls = views.map((_, index) => `https://node${index}.example/v2/secret-key`)
  const ask = async (index: number) => {
    const view = views[index]
    if (!view || view instanceof Error) throw view
    return view
  }
  return checkNodes({
    name: 'base',
    urls,
    chain: chain ?? undefined,
    maxHeadAgeMs: 15_000,
    now: NOW,
    ask,
  })
}

test('nodes of the right chain with the right time have no findings', async () => {
  const views = [
    { chain: '8453', headSeconds: seconds },
    { chain: '8453', headSeconds: seconds - 15 },
  ]

  expect(await check(views)).toEqual({ problems: [], warnings: [] })
})

test('a node of another chain stops the start, even if it is the last one', async () => {
  const views = [
    { chain: '8453', headSeconds: seconds },
    { chain: '1', headSeconds: seconds },
  ]

  const { problems } = await check(views)

  expect(problems).toEqual(['base: the node at node1.example serves chain 1, not 8453'])
})

test('without a configured chain, nodes have to agree on one', async () => {
  const views = [
    { chain: 'a', headSeconds: seconds },
    { chain: 'b', headSeconds: seconds },
  ]

  expect((await check(views, null)).problems).toEqual([
    'base: the node at node1.example serves chain b, not a',
  ])
})

test('temporary problems only warn, and no warning contains the key in the URL', async () => {
  const { problems, warnings } = await check([
    new Error('No answer within 5000 ms'),
    { chain: '8453', headSeconds: seconds - 90 },
    { chain: '8453', headSeconds: seconds + 90 },
  ])

  expect(problems).toEqual([])
  expect(warnings).toEqual([
    'base: the node at node0.example does not answer: No answer within 5000 ms',
    expect.stringContaining('node1.example has no block of the last 90 s'),
    expect.stringContaining('node2.example is 90 s ahead of this machine'),
  ])
})

test.each([
  [Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 'it refuses connections'],
  [
    Object.assign(new Error('x'), { cause: Object.assign(new Error('y'), { code: 'ENOTFOUND' }) }),
    'unknown host',
  ],
  [Object.assign(new Error('x'), { status: 401 }), 'HTTP 401: it refuses the key'],
  [Object.assign(new Error('x'), { status: 429 }), 'HTTP 429: too many calls'],
  [Object.assign(new Error('x'), { shortMessage: 'short' }), 'short'],
])('a node that does not answer is named with the reason %#', async (error, reason) => {
  expect((await check([error])).warnings).toEqual([
    `base: the node at node0.example does not answer: ${reason}`,
  ])
})
