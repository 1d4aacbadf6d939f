import type { RpcTransport } from '@solana/kit'
import { expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import { gatherAccounts } from './client.ts'

type Asked = { method: string; params: [string[], unknown] }

/** A node on which every account holds its own address. */
function createNode(answer = (addresses: string[]): unknown => ({ result: { value: addresses } })) {
  const asked: Asked[] = []
  const transport = gatherAccounts(
    stub<RpcTransport>(async ({ payload }: { payload: Asked }) => {
      asked.push(payload)
      return answer(payload.params[0])
    }),
  )
  const read = (addresses: string[], options: unknown = {}) =>
    transport({
      payload: { method: 'getMultipleAccounts', params: [addresses, options] },
    }) as Promise<unknown>
  return { asked, transport, read }
}

test('reads of accounts in one tick are one call, and each gets its own accounts', async () => {
  const { asked, read } = createNode()

  const answers = await Promise.all([read(['a', 'b']), read(['b', 'c']), read(['a'])])

  expect(asked.map(({ params }) => params[0])).toEqual([['a', 'b', 'c']])
  expect(answers).toEqual([['a', 'b'], ['b', 'c'], ['a']].map((value) => ({ result: { value } })))
})

test('reads with other options, more than a hundred accounts, and later reads have calls of their own', async () => {
  const { asked, read } = createNode()
  const many = (from: string) => Array.from({ length: 60 }, (_, index) => `${from}${index}`)

  await Promise.all([read(['a'], { minContextSlot: 1n }), read(['a'], { minContextSlot: 2n })])
  await Promise.all([read(many('a')), read(many('b')), read(['b0'])])

  expect(asked.map(({ params }) => params[0].length)).toEqual([1, 1, 60, 60])
})

test('an error of the node reaches every reader', async () => {
  const { read } = createNode(() => ({ error: { code: -32016 } }))
  expect(await Promise.all([read(['a']), read(['b'])])).toEqual([
    { error: { code: -32016 } },
    { error: { code: -32016 } },
  ])

  const { read: readSilent } = createNode(() => Promise.reject(new Error('silent')))
  const answers = await Promise.allSettled([readSilent(['a']), readSilent(['b'])])
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('other calls pass unchanged', async () => {
  const { asked, transport } = createNode()
  await transport({ payload: { method: 'getSlot', params: [] } })
  expect(asked).toEqual([{ method: 'getSlot', params: [] }])
})
