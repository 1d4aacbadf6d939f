import { RpcRequestError } from 'viem'
import { expect, test } from 'vitest'
import { createFreshNode, findInTime } from './wallet.ts'

const OPTIONS = { retryMs: 1, patienceMs: 5_000 }
const refusal = (message: string) =>
  new RpcRequestError({ body: {}, url: 'http://node.example', error: { code: -32000, message } })

/** A node whose backends answer in turn: the first is at block 10, the second at block 12. */
function createLaggingNode() {
  const heads = [10n, 12n]
  let asked = 0
  return async ({ params }: { params?: unknown }): Promise<bigint> => {
    const head = heads[asked++ % 2] ?? 0n
    const block = (params as unknown[])[1]
    if (block === undefined || block === 'latest') return head
    if (BigInt(block as string) > head) throw refusal('header not found')
    return BigInt(block as string)
  }
}

test('state is never read before the block that was reached, although a backend is behind it', async () => {
  const node = createFreshNode(createLaggingNode(), OPTIONS)
  node.reach(12n)
  node.reach(11n)

  const reads = await Promise.all(
    ['eth_getBalance', 'eth_getCode', 'eth_call', 'eth_estimateGas'].map((method) =>
      node.request({ method, params: ['0x', 'latest'] }),
    ),
  )

  expect(reads).toEqual([12n, 12n, 12n, 12n])
})

test('a revert is not asked again, and neither is a block that the caller names', async () => {
  const errors = [refusal('execution reverted'), refusal('header not found')]
  const node = createFreshNode(() => Promise.reject(errors.shift()), OPTIONS)
  node.reach(12n)

  await expect(node.request({ method: 'eth_call', params: [{}] })).rejects.toThrow('execution reverted')
  await expect(node.request({ method: 'eth_call', params: [{}, '0x1'] })).rejects.toThrow('header not found')
})

test('a receipt that a backend lacks is waited for, and not for ever', async () => {
  const answers = [undefined, undefined, 'receipt']

  expect(await findInTime(OPTIONS, async () => answers.shift())).toBe('receipt')
  expect(await findInTime({ retryMs: 1, patienceMs: 3 }, async () => undefined)).toBeUndefined()
})
