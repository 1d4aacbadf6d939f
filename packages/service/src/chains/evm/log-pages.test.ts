import { type PublicClient, RpcRequestError } from 'viem'
import { expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import { createLogPages, readAllLogs } from './events.ts'

const body = { method: 'eth_getLogs' }
const refusal = (code: number, message: string) =>
  new RpcRequestError({ body, url: 'http://node', error: { code, message } })

/** A node that answers at most so many blocks at once. */
function createNode(
  limit: bigint,
  error: Error = refusal(-32_005, 'query returned more than 10000 results'),
) {
  const asked: [bigint, bigint][] = []
  const getLogs = async ({ fromBlock, toBlock }: { fromBlock: bigint; toBlock: bigint }) => {
    if (toBlock - fromBlock + 1n > limit) throw error
    asked.push([fromBlock, toBlock])
    return []
  }
  return { asked, pages: createLogPages(stub<PublicClient>({ getLogs })) }
}

test('a range that the node refuses is halved, and what it accepts is the page', async () => {
  const { pages } = createNode(500n)

  expect((await pages.readPage([], { from: 1n, to: 5_000n })).to).toBe(500n)
})

test('after pages that the node accepts the range grows again', async () => {
  const { asked, pages } = createNode(20_000n)

  await readAllLogs(pages, [], { from: 1n, to: 30_000n })

  const sizes = asked.map(([from, to]) => to - from + 1n)
  expect(sizes.slice(0, 3)).toEqual([2_000n, 2_501n, 3_127n])
  expect(sizes.every((size) => size <= 10_000n)).toBe(true)
})

test('every block of a range is read once, whatever the node allows', async () => {
  const { asked, pages } = createNode(700n)

  await readAllLogs(pages, [], { from: 10n, to: 9_999n })

  const starts = asked.map(([from]) => from)
  const ends = asked.map(([, to]) => to)
  expect(starts[0]).toBe(10n)
  expect(ends.at(-1)).toBe(9_999n)
  expect(starts.slice(1)).toEqual(ends.slice(0, -1).map((end) => end + 1n))
})

test.each([
  [-32_602, 'block range is too wide'],
  [-32_600, 'eth_getLogs is limited to a 10,000 range'],
  [-32_000, 'query exceeds max block range 1000'],
  [-32_005, 'Log response size exceeded'],
])('refusal %i "%s" is a limit', async (code, message) => {
  const { pages } = createNode(100n, refusal(code, message))

  expect((await pages.readPage([], { from: 1n, to: 1_000n })).to).toBeLessThanOrEqual(100n)
})

test('a node that fails for another reason is not asked for less', async () => {
  const { pages } = createNode(100n, refusal(-32_603, 'internal error'))

  await expect(pages.readPage([], { from: 1n, to: 1_000n })).rejects.toThrow('internal error')
})

test('a page of one block grows again', async () => {
  let limit = 1n
  const getLogs = async ({ fromBlock, toBlock }: { fromBlock: bigint; toBlock: bigint }) => {
    if (toBlock - fromBlock + 1n > limit) throw refusal(-32_005, 'too many')
    return []
  }
  const pages = createLogPages(stub<PublicClient>({ getLogs }))
  await pages.readPage([], { from: 1n, to: 5_000n })

  limit = 5_000n
  const sizes = []
  for (let from = 2n; from < 100n; ) {
    const { to } = await pages.readPage([], { from, to: 5_000n })
    sizes.push(to - from + 1n)
    from = to + 1n
  }

  expect(sizes.slice(0, 5)).toEqual([2n, 3n, 4n, 6n, 8n])
})
