import { createPublicClient, custom, HttpRequestError, RpcRequestError } from 'viem'
import { expect, test } from 'vitest'
import { createFallback } from './agreement.ts'

type Node = string | { code: number; data?: string } | 'dead'

/** The answer about code of a stranger that nodes like these give, and how many were asked. */
async function ask(...given: Node[]) {
  let asked = 0
  const transports = given.map((answer) =>
    custom(
      {
        request: async () => {
          asked += 1
          if (answer === 'dead') throw new HttpRequestError({ url: 'http://node', details: 'refused' })
          if (typeof answer === 'string') return answer
          throw new RpcRequestError({ body: {}, url: 'http://node', error: { message: 'failed', ...answer } })
        },
      },
      { retryCount: 0 },
    ),
  )
  const client = createPublicClient({ transport: createFallback(transports), cacheTime: 0 })
  const call = client.request({ method: 'eth_call', params: [{ to: `0x${'1'.repeat(40)}` }, 'latest'] })
  const answer = await call.catch((error) => error.code ?? error.name)
  return { answer, asked }
}

test.each<[string, Node[], unknown, number]>([
  ['the first node answers: no other is asked', ['0x1', '0x2'], '0x1', 1],
  ['the first node is dead: the next is asked', ['dead', '0x2'], '0x2', 2],
  ['the first node lags: the next is asked', [{ code: -32_000 }, '0x2'], '0x2', 2],
  ['a contract reverted: no other node is asked', [{ code: 3, data: '0x' }, '0x2'], 3, 1],
  ['all nodes fail: an answer says more than a dead node', [{ code: -32_000 }, 'dead'], -32_000, 2],
  ['all nodes are dead', ['dead', 'dead'], 'HttpRequestError', 2],
])('%s', async (_, nodes, answer, asked) => {
  expect(await ask(...nodes)).toEqual({ answer, asked })
})
