import { expect, test } from 'vitest'
import { createFreshNode, findInTime } from './wallet.ts'

test('state is never read before the block that was reached, and at a block that the caller names', async () => {
  const node = createFreshNode(async ({ params }) => (params as unknown[])[1])
  node.reach(12n)
  node.reach(11n)

  const reads = await Promise.all(
    ['eth_getBalance', 'eth_getCode', 'eth_call', 'eth_estimateGas'].map((method) =>
      node.request({ method, params: ['0x', 'latest'] }),
    ),
  )

  expect(reads).toEqual(['0xc', '0xc', '0xc', '0xc'])
  expect(await node.request({ method: 'eth_call', params: [{}, '0x1'] })).toBe('0x1')
})

test('a receipt that a backend lacks is waited for, and not for ever', async () => {
  const answers = [undefined, undefined, 'receipt']

  expect(await findInTime({ retryMs: 1, patienceMs: 5_000 }, async () => answers.shift())).toBe('receipt')
  expect(await findInTime({ retryMs: 1, patienceMs: 3 }, async () => undefined)).toBeUndefined()
})
