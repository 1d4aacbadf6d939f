import { beforeEach, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { stub } from '../../../test/support/stub.ts'
import { insertTestSwap, moveTestSwap } from '../../../test/support/swaps.ts'
import type { Block, LockRef } from '../../chains/chain.ts'
import { insertAttestation } from '../../store/attestations.ts'
import { type AttestDeps, attestAll } from './attest.ts'

const database = useTestDatabase()
beforeEach(() => database.pool.query('delete from attestations; delete from swaps; delete from ops'))

/** A swap of which only the input is known: its op deadline is at 5,000 seconds, its refund deadline at 9,000. */
async function insertOrphan(): Promise<string> {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  for (const event of ['lockRecorded', 'lockSeen', 'deliveryRecorded'] as const)
    await moveTestSwap(pool, swap, event)
  await pool.query('update ops set is_orphan = true, op_deadline = 5000, refund_deadline = 9000')
  await pool.query('update swaps set origin_final = true')
  await moveTestSwap(pool, swap, 'deliveryImpossible', { refundReason: 'DELIVERY_EXPIRED', proof: {} })
  await insertAttestation(pool, {
    chainId: 31_337,
    kind: 'refund',
    swapIds: [swap.swapId],
    validUntil: 3_600,
  })
  return swap.swapId
}

type SeenChain = { seconds: number; expires?: boolean; isPaid?: boolean }

/**
 * Runs an attester that sees these chains. Returns its messages, and the times from which it searched for deliveries.
 */
async function attestSeeing(chains: readonly SeenChain[]) {
  const [said, since]: [string[], number[]] = [[], []]
  const hard: Block = { number: 9n, height: 9n, hash: '0x', seconds: 0 }
  const chain = {
    readHeads: async () => ({ head: hard, settle: hard, hard }),
    readLocks: async (ops: readonly LockRef[]) => new Map(ops.map(({ hash }) => [hash, 'locked'])),
    readAttesters: async () => ({ members: ['mine'], threshold: 1 }),
  }
  const everywhere = chains.map(({ seconds, expires, isPaid }, index) => ({
    chain: { readHeads: async () => ({ hard: { ...hard, seconds } }) },
    recovery: {
      chainId: index + 1,
      expiryOf: () => (expires ? 60n : undefined),
      async findDelivery(_hash: string, from: number) {
        since.push(from)
        return isPaid ? {} : undefined
      },
    },
  }))
  const deps = {
    pool: database.pool,
    chains: {
      // An orphan has no destination.
      of: () => ({ chain, gate: { isOpen: false }, attestations: { sign: async () => '0x' } }),
      all: everywhere,
    },
    isRefundable: async () => true,
    signers: ['mine'],
    events: {
      onAttested: (kind: string, swapIds: readonly string[]) => said.push(`${kind} ${swapIds.join()}`),
      onRefused: (_swap: unknown, why: string) => said.push(why),
      onPostponed: (_swap: unknown, why: string) => said.push(`not yet: ${why}`),
    },
  }
  await attestAll(stub<AttestDeps>(deps))
  return { said, since }
}

const later: SeenChain = { seconds: 9_001 }
const open = 'not yet: a delivery is still possible on some chain'

test.each<[string, SeenChain[], string]>([
  ['one chain has not passed its deadline', [later, { seconds: 9_000 }], open],
  ['no chain has passed its deadline', [{ seconds: 8_999 }], open],
  ['a chain shows its delivery', [later, { ...later, isPaid: true }], 'chain 2 shows a delivery'],
  [
    'a chain with short-lived deliveries shows it',
    [{ seconds: 0, expires: true, isPaid: true }],
    'chain 1 shows a delivery',
  ],
])('an input of unknown terms is not refunded while %s', async (_, chains, why) => {
  await insertOrphan()

  expect((await attestSeeing(chains)).said).toEqual([why])
})

test('an input of unknown terms is refunded once every chain rules out a delivery, however early', async () => {
  const swapId = await insertOrphan()

  expect(await attestSeeing([later, { seconds: 0, expires: true }])).toEqual({
    said: [`refund ${swapId}`],
    since: [1_400, 1_400],
  })
})
