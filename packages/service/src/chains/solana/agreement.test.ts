import type { RpcTransport } from '@solana/kit'
import { expect, test } from 'vitest'
import { createAgreement } from './agreement.ts'

const entry = (signature: string, slot: bigint) => ({ signature, slot, err: null, memo: null })

function ask(pages: readonly (readonly object[] | undefined)[]) {
  const transports = pages.map(
    (page) => (async () => (page ? { result: page } : { error: { message: 'behind' } })) as RpcTransport,
  )
  const payload = { method: 'getSignaturesForAddress' }
  return createAgreement(transports)({ payload } as never)
}

const [a, b, c, d] = [entry('a', 1n), entry('b', 2n), entry('c', 3n), entry('d', 4n)]

test('of a busy account, what most nodes list is agreed on though no two list the same', async () => {
  const pages = [
    [d, b, a],
    [c, b, a],
    [c, b, a, entry('old', 0n)],
  ]

  expect(await ask(pages)).toMatchObject({ result: [c, b, a] })
})

test('a signature that one node lists is none', async () => {
  expect(await ask([[d, b], [b], [c, b]])).toMatchObject({ result: [b] })
})

test('nodes that agree on nothing, or are too few, give no answer', async () => {
  await expect(ask([[a], [b], [c]])).rejects.toThrow('nodes agree')
  await expect(ask([[a, b], undefined, undefined])).rejects.toThrow('behind')
})
