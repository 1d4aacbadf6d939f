import { expect, test } from 'vitest'
import { rpcOf } from '../../../test/support/solana-node.ts'
import { stub } from '../../../test/support/stub.ts'
import type { Op } from '../../swap/swap.ts'
import { createEventFinder } from './chain.ts'
import type { SolanaBlock } from './heads.ts'
import type { SolanaParts } from './parts.ts'

const head: SolanaBlock = { number: 90n, height: 80n, hash: '', seconds: 0, commitment: 'confirmed' }
const hard: SolanaBlock = { number: 50n, height: 40n, hash: '', seconds: 0, commitment: 'finalized' }
const opOf = (hash: string) => ({ hash, deliveryHash: hash, inputAmount: 1n }) as Op

/** One op that waits for its lock, and a node without accounts that counts what it is asked. */
function waitFor(op: Op, { signed, landed }: { signed: string[]; landed: string[] }) {
  const calls: string[] = []
  let time = 0
  const node = rpcOf({
    getMultipleAccounts: (addresses: string[]) => ({
      async send() {
        calls.push('accounts')
        return { context: { slot: 90n }, value: addresses.map(() => null) }
      },
    }),
    getSignatureStatuses: (hashes: string[]) => ({
      async send() {
        calls.push('statuses')
        const status = { slot: 70n, err: null, confirmationStatus: 'confirmed' }
        return { value: hashes.map((hash) => (landed.includes(hash) ? status : null)) }
      },
    }),
  })
  const parts = stub<SolanaParts>({
    client: { agreed: { rpc: node, nodes: [node] } },
    addresses: { inputOf: async ({ hash }: Op) => `input of ${hash}` },
    findSigned: async () => new Map(signed.length > 0 ? [[op.hash, signed]] : []),
  })
  const find = createEventFinder(parts, () => time)
  const watched = async () => ({ locks: [op], exits: [], deliveries: [] })
  return async (ms: number) => {
    time = ms
    calls.length = 0
    const { events } = await find({ watched, depths: { head, hard }, faults: undefined })
    return { calls: [...calls], events }
  }
}

test('a recorded input whose transaction landed is locked: its account is not read', async () => {
  const look = waitFor(opOf('a'), { signed: ['old', 'tx'], landed: ['tx'] })

  const event = { kind: 'locked', id: 'a', txHash: 'tx', block: 70n, blockHash: '' }
  expect(await look(0)).toEqual({ calls: ['statuses'], events: [event] })
})

test('the account of a recorded input that did not land is read every five seconds', async () => {
  const look = waitFor(opOf('a'), { signed: ['tx'], landed: [] })

  expect((await look(0)).calls).toEqual(['statuses', 'accounts'])
  expect((await look(4_999)).calls).toEqual(['statuses'])
  expect((await look(5_000)).calls).toEqual(['statuses', 'accounts'])
})

test('the account of an input without a record is read at each head', async () => {
  const look = waitFor(opOf('a'), { signed: [], landed: [] })

  expect([(await look(0)).calls, (await look(1)).calls]).toEqual([['accounts'], ['accounts']])
})
