import { expect, test } from 'vitest'
import type { Block, Heads, Sent } from '../chain.ts'
import type { EvmClients } from './client.ts'
import { createFateReader } from './send.ts'

const blockAt = (number: bigint): Block => ({ number, height: number, hash: `0x${number}`, seconds: 0 })
const headsAt = (head: bigint, hard: bigint, settle = head): Heads => ({
  head: blockAt(head),
  settle: blockAt(settle),
  hard: blockAt(hard),
})
const sent = [0, 1, 2].map((nonce) => ({ nonce, replacement: 0 }) as Sent)

/** A key whose nonce is a tenth of the block's number. */
function createReader() {
  const asked: bigint[] = []
  const getTransactionCount = async ({ blockNumber }: { blockNumber: bigint }) => {
    asked.push(blockNumber)
    return Number(blockNumber / 10n)
  }
  const read = createFateReader({ agreed: { getTransactionCount } } as unknown as EvmClients)
  return { asked, read }
}

test('a final block is asked for a key’s nonce once, and the head each time', async () => {
  const { asked, read } = createReader()

  await read('key', sent, headsAt(20n, 10n))
  const { final, consumed, unmined, nextNonce } = await read('key', sent, headsAt(21n, 10n))

  expect(asked).toEqual([20n, 10n, 21n])
  expect([final, consumed, unmined].map((each) => each.map(({ nonce }) => nonce))).toEqual([[0], [1], [2]])
  expect(nextNonce).toBe(2)

  await read('other', sent, headsAt(21n, 10n))
  await read('key', sent, headsAt(31n, 20n))
  expect(asked.slice(3)).toEqual([21n, 10n, 31n, 20n])
})

test('what is not settled at the head is judged by the settled block', async () => {
  const { asked, read } = createReader()

  const { consumed, unmined } = await read('key', sent, headsAt(20n, 10n, 15n))

  expect([consumed.length, unmined.map(({ nonce }) => nonce)]).toEqual([0, [2]])
  expect(asked).toEqual([20n, 10n, 15n])
})

test('of a key that sent nothing the head alone is asked', async () => {
  const { asked, read } = createReader()

  expect(await read('key', [], headsAt(20n, 10n))).toMatchObject({ nextNonce: 2, final: [], unmined: [] })
  expect(asked).toEqual([20n])
})
