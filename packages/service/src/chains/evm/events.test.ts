import { geoEscrowAbi } from '@geoswap/protocol'
import { encodeAbiParameters, encodeEventTopics, type Hex, type PublicClient, zeroHash } from 'viem'
import { expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import { createEventReader } from './events.ts'

const escrow = '0x00000000000000000000000000000000000000e5'
const vault = '0x00000000000000000000000000000000000000a7'
const HEAD = 9n

const op = `0x${'ab'.repeat(32)}` as const
const locked = {
  address: escrow,
  topics: encodeEventTopics({ abi: geoEscrowAbi, eventName: 'Locked', args: { op } }),
  data: '0x',
  blockNumber: HEAD,
  blockHash: zeroHash,
  transactionHash: zeroHash,
}

const refunded = {
  ...locked,
  topics: encodeEventTopics({ abi: geoEscrowAbi, eventName: 'Refunded', args: { op } }),
}
const credited = {
  ...locked,
  topics: encodeEventTopics({
    abi: geoEscrowAbi,
    eventName: 'Credited',
    args: { owner: vault, token: vault },
  }),
  data: encodeAbiParameters([{ type: 'uint256' }], [5n]),
}

/** Each read is answered by the next backend, which knows the chain up to its own head alone. */
function readerOver(heads: readonly bigint[], logs: readonly object[] = [locked]) {
  let reads = 0
  const knownNow = () => heads[Math.min(reads, heads.length) - 1] ?? 0n
  const client = {
    async getLogs({ toBlock }: { toBlock: bigint }) {
      reads += 1
      return knownNow() >= toBlock ? logs : []
    },
    async request({ params: [number] }: { params: [Hex] }) {
      return BigInt(number) > knownNow() ? null : { number }
    },
  }
  return {
    read: createEventReader(stub<PublicClient>(client), { escrow, vault, tokens: [] }),
    reads: () => reads,
  }
}

test('a backend that does not have the head is not believed: its logs are read again', async () => {
  const { read, reads } = readerOver([HEAD - 2n, HEAD - 2n, HEAD])

  const page = await read({ from: 1n, to: HEAD })

  expect(page).toMatchObject({ events: [{ kind: 'locked', id: op }], to: HEAD, isComplete: true })
  expect(reads()).toBe(3)
})

test('while no backend has the head the page says that it may lack events', async () => {
  const { read } = readerOver([HEAD - 2n])

  expect(await read({ from: 1n, to: HEAD })).toMatchObject({ events: [], isComplete: false })
})

test.each([
  ['right after it', [refunded, credited], [vault]],
  ['before it, in a call of its own', [credited, refunded], []],
  ['after another event', [refunded, locked, credited], []],
])('a credit %s tells whether a refund was credited', async (_, logs, creditedTo) => {
  const { events } = await readerOver([HEAD], logs).read({ from: 1n, to: HEAD })

  const refund = events.find(({ kind }) => kind === 'refunded')
  expect(refund?.creditedTo?.map((owner) => owner.toLowerCase())).toEqual(creditedTo)
})
