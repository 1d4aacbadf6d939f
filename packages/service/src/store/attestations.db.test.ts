import { expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, moveTestSwap, settleTestSwap } from '../../test/support/swaps.ts'
import { markAttemptsFinal } from './attempts.ts'
import {
  bindAttestation,
  closeAttestation,
  findUnsent,
  insertAttestation,
  releaseStalledAttestations,
} from './attestations.ts'

const CHAIN = 31337

const database = useTestDatabase()

/** A claim signed by this key, whose transaction is not known to be in a block. */
async function claimUnderWay() {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await settleTestSwap(pool, swap)
  await insertAttestation(pool, { chainId: CHAIN, kind: 'claim', swapIds: [swap.swapId] })
  const attemptId = await insertTestAttempt(pool, swap, 'claim')
  const unsent = await unsentOf(swap.swapId)
  await bindAttestation(pool, { id: unsent?.id ?? '', attemptId, hour: 0 })
  await moveTestSwap(pool, swap, 'claimRecorded')
  const { rows } = await pool.query<{ sender: string }>('select sender from tx_attempts where id = $1', [
    attemptId,
  ])
  return { ...swap, attemptId, sender: rows[0]?.sender ?? '' }
}

async function unsentOf(swapId: string) {
  const all = await findUnsent(database.pool, { chainId: CHAIN, of: 1, index: 0 })
  return all.find(({ swapIds }) => swapIds.includes(swapId))
}

const release = (senders: string[]) => releaseStalledAttestations(database.pool, { chainId: CHAIN, senders })

test('a claim stays with the key that signed it until the chain has decided, and is then sent by any key', async () => {
  const { swapId, attemptId, sender } = await claimUnderWay()

  await release([sender])
  const before = await unsentOf(swapId)
  await markAttemptsFinal(database.pool, [{ id: attemptId }], 9n)
  await database.pool.query(`update tx_attempts set final_at = final_at - interval '1 minute'`)
  await release([sender])

  expect(before).toBeUndefined()
  expect(await unsentOf(swapId)).toMatchObject({ kind: 'claim' })
})

test('a claim of a removed key is sent by another', async () => {
  const { swapId } = await claimUnderWay()

  await release(['another'])

  expect(await unsentOf(swapId)).toMatchObject({ kind: 'claim' })
})

test('a claim that landed although it seemed stalled keeps its attestation', async () => {
  const { pool } = database
  const { swapId, attemptId } = await claimUnderWay()
  await release(['another'])

  await closeAttestation(pool, (await unsentOf(swapId))?.id ?? '')

  const { rows } = await pool.query('select attempt_id from attestations where $1 = any(swap_ids)', [swapId])
  expect(rows).toEqual([{ attempt_id: attemptId }])
})

test('an unsent attestation of a swap that moved on is deleted', async () => {
  const { pool } = database
  const { swapId } = await insertTestSwap(pool, await insertTestAccount(pool))
  await insertAttestation(pool, { chainId: CHAIN, kind: 'claim', swapIds: [swapId] })

  await closeAttestation(pool, (await unsentOf(swapId))?.id ?? '')

  const { rows } = await pool.query('select 1 from attestations where $1 = any(swap_ids)', [swapId])
  expect(rows).toEqual([])
})
