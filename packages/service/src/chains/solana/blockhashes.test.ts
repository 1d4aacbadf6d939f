import { expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import type { SolanaClients } from './client.ts'
import { createBlockhashes } from './heads.ts'

/** A node with a new blockhash at each call, and a clock that is set by hand. */
function open() {
  let calls = 0
  let time = 0
  const send = async () => {
    calls += 1
    if (calls === 3) throw new Error('silent')
    return { context: { slot: 1n }, value: { blockhash: `read ${calls}`, lastValidBlockHeight: 150n } }
  }
  const agreed = { rpc: { getLatestBlockhash: () => ({ send }) }, nodes: [{}] }
  const { note, recent } = createBlockhashes(stub<SolanaClients>({ agreed }), () => time)
  return {
    at(ms: number) {
      time = ms
    },
    note: (blockhash: string) => note({ blockhash, lastValidBlockHeight: 150n }),
    recent: async () => (await recent()).blockhash,
  }
}

test('the blockhash of the last head is used for two seconds, and then a node is asked', async () => {
  const { at, note, recent } = open()
  note('of a head')

  at(1_999)
  expect(await recent()).toBe('of a head')
  at(2_000)
  expect(await recent()).toBe('read 1')
  note('of the next head')
  expect(await recent()).toBe('of the next head')
})

test('a process that reads no heads asks every two seconds, and again after an error', async () => {
  const { at, recent } = open()

  expect([await recent(), await recent()]).toEqual(['read 1', 'read 1'])
  at(2_000)
  expect(await recent()).toBe('read 2')
  at(4_000)
  await expect(recent()).rejects.toThrow('silent')
  expect(await recent()).toBe('read 4')
})
