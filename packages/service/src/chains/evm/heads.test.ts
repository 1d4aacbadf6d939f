import { BlockNotFoundError, type PublicClient, RpcRequestError } from 'viem'
import { expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import { createHeadReader } from './heads.ts'

const rules = { settle: 1, hard: 64, hardSeconds: 1_140, blockMs: 12_000 }
const HEAD = 1_000n

type Asked = { blockTag?: string; blockNumber?: bigint }

const unknownTag = (code: number, message: string) =>
  new RpcRequestError({ body: {}, url: 'http://node', error: { code, message } })

/** A node with these tags. */
function createNode(tags: { safe?: bigint; finalized: bigint | Error }) {
  const node = { head: HEAD, finalized: tags.finalized, asked: [] as string[] }
  const blockOf = (number: bigint) => ({
    number,
    hash: `0x${number}`,
    timestamp: number * 12n,
    baseFeePerGas: 1n,
  })
  const getBlock = async ({ blockTag, blockNumber }: Asked = {}) => {
    node.asked.push(blockTag ?? String(blockNumber))
    if (blockNumber !== undefined) return blockOf(blockNumber)
    if (blockTag === 'latest') return blockOf(node.head)
    const tagged = blockTag === 'safe' ? (tags.safe ?? 0n) : node.finalized
    if (tagged instanceof Error) throw tagged
    return blockOf(tagged)
  }
  return { node, client: stub<PublicClient>({ getBlock }) }
}

test("the final block is the node's finalized block", async () => {
  const { client } = createNode({ finalized: 920n })

  expect((await createHeadReader(client, rules)()).hard.number).toBe(920n)
})

test('a node that reports its head as finalized is not trusted above the configured depth', async () => {
  const { client } = createNode({ finalized: HEAD })

  expect((await createHeadReader(client, rules)()).hard.number).toBe(HEAD - 63n)
})

test.each([
  ['parameters', unknownTag(-32_602, 'invalid argument')],
  ['text', unknownTag(-32_000, 'finalized block not found')],
  ['null', new BlockNotFoundError({})],
])(
  'on a node without the tag, shown by its %s, a block is final after the longest finality time',
  async (_, answer) => {
    const { client } = createNode({ finalized: answer })

    expect((await createHeadReader(client, rules)()).hard.number).toBe(HEAD - 94n)
  },
)

test('a node that does not answer is not a node without finality', async () => {
  const { client } = createNode({ finalized: new Error('No answer within 5000 ms') })

  await expect(createHeadReader(client, rules)()).rejects.toThrow('No answer')
})

test('a final block never moves back, even if another node is behind', async () => {
  const { client, node } = createNode({ finalized: 920n })
  const read = createHeadReader(client, rules)
  const before = await read()

  node.head += 2n
  node.finalized = 900n

  expect((await read(before)).hard.number).toBe(920n)
})

test('finality is read every few seconds of chain time, and not with every block', async () => {
  const { client, node } = createNode({ finalized: 920n })
  const fast = { ...rules, blockMs: 250 }
  const read = createHeadReader(client, fast)
  let heads = await read()
  node.asked.length = 0

  // The next block of this stub is twelve seconds later, so finality is due; after a reading it is not.
  node.head += 1n
  heads = await read(heads)
  expect(node.asked).toContain('finalized')
  node.asked.length = 0
  expect(await read(heads)).toBe(heads)
  expect(node.asked).toEqual(['latest'])
})

test('the safe block is followed if exposure ends with it', async () => {
  const { client } = createNode({ safe: 950n, finalized: 920n })

  expect((await createHeadReader(client, { ...rules, followsSafe: true })()).safe?.number).toBe(950n)
  expect((await createHeadReader(client, rules)()).safe).toBeUndefined()
})
