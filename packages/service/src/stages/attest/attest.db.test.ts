import { expect, test } from 'vitest'
import { insertTestAttempt } from '../../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { stub } from '../../../test/support/stub.ts'
import { insertTestSwap, lockTestSwap, moveTestSwap } from '../../../test/support/swaps.ts'
import type { LockRef } from '../../chains/chain.ts'
import { markAttemptsFinal } from '../../store/attempts.ts'
import { insertAttestation } from '../../store/attestations.ts'
import type { Op } from '../../swap/swap.ts'
import { type AttestDeps, attestAll } from './attest.ts'

const database = useTestDatabase()

/** A swap to be refunded: its only delivery was decided at this block, and the vault had not paid. */
async function refundDecidedAt(block: bigint) {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await lockTestSwap(pool, swap)
  const id = await insertTestAttempt(pool, swap, 'deliver')
  await moveTestSwap(pool, swap, 'deliveryRecorded', { deliveryTxHash: '0xdelivery' })
  await markAttemptsFinal(pool, [{ id }], block)
  await pool.query('update swaps set origin_final = true where id = $1', [swap.swapId])
  const proof = { kind: 'attemptsConsumedUndelivered' }
  await moveTestSwap(pool, swap, 'deliveryImpossible', { refundReason: 'DELIVERY_EXPIRED', proof })
  await insertAttestation(pool, {
    chainId: 31_337,
    kind: 'refund',
    swapIds: [swap.swapId],
    validUntil: 3_600,
  })
  return swap
}

/** Runs an attester whose own nodes are at this block and show no delivery. Returns its messages. */
async function attestAt(number: bigint) {
  const said: string[] = []
  const hard = { number, height: number, hash: '0x', seconds: 0 }
  const chain = {
    readHeads: async () => ({ head: hard, settle: hard, hard }),
    readLocks: async (ops: readonly LockRef[]) => new Map(ops.map(({ hash }) => [hash, 'locked'])),
    readUndelivered: async (ops: readonly Op[]) => new Set(ops.map(({ hash }) => hash)),
    isDeliveryOver: () => false,
    readAttesters: async () => ({ members: ['mine'], threshold: 1 }),
  }
  const deps = {
    pool: database.pool,
    chains: { of: () => ({ chain, gate: { isOpen: true }, attestations: { sign: async () => '0x' } }) },
    isRefundable: async () => true,
    signers: ['mine'],
    events: {
      onAttested: (kind: string, swapIds: readonly string[]) => said.push(`${kind} ${swapIds.join()}`),
      onRefused: (_swap: unknown, why: string) => said.push(why),
      onPostponed: (_swap: unknown, why: string) => said.push(`not yet: ${why}`),
    },
  }
  await attestAll(stub<AttestDeps>(deps))
  return said
}

test('an attester whose nodes lag behind the worker’s waits for the block that decided the deliveries', async () => {
  const { swapId } = await refundDecidedAt(20n)

  expect(await attestAt(19n)).toEqual(['not yet: a signed delivery may still land'])
  expect(await attestAt(20n)).toEqual([`refund ${swapId}`])
})

test('an attester does not rely on attempts after rows were lost: one may be missing', async () => {
  const swap = await refundDecidedAt(20n)
  await database.pool.query('update swaps set log_lost = true where id = $1', [swap.swapId])

  expect(await attestAt(20n)).toEqual(['not yet: a signed delivery may still land'])
})
