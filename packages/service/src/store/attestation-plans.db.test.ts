import { beforeAll, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { explaining } from '../../test/support/plans.ts'
import { insertEndedSwaps } from '../../test/support/swaps.ts'
import {
  bindAttestation,
  closeAttestation,
  findDisputed,
  findProposed,
  findUnsent,
  releaseStalledAttestations,
} from './attestations.ts'
import { traceSwap } from './history.ts'
import { findToPropose } from './swaps.ts'

const SENT = 20_000

const database = useTestDatabase()
beforeAll(async () => {
  const { pool } = database
  await insertEndedSwaps(
    pool,
    await insertTestAccount(pool),
    Array.from({ length: 1_000 }, () => 'wallet'),
  )
  await pool.query(
    `insert into tx_attempts (chain_id, sender, nonce, role, tx_hash, raw, effect_hash, request, final_at, final_block)
     select 31337, 'sender', n, 'claim', 'tx' || n, '0x', '0x', '{}', now(), 1 from generate_series(1, $1) n`,
    [SENT],
  )
  await pool.query(
    `insert into attestations (chain_id, kind, swap_ids, signature, attempt_id)
     select 31337, 'claim', array['a' || id, 'b' || id], '0x', id from tx_attempts`,
  )
  await pool.query('vacuum analyze')
})

test('no statement scans all sent attestations', async () => {
  const { db, plans } = explaining(database.pool)

  await findToPropose(db, { kind: 'claim', chainId: 31337 })
  await findToPropose(db, { kind: 'refund', chainId: 31337 })
  await findUnsent(db, { chainId: 31337, of: 1, index: 0 })
  await findDisputed(db, 31337)
  await findProposed(db)
  await bindAttestation(db, { id: '1', attemptId: '1', hour: 0 })
  await closeAttestation(db, '1')
  await releaseStalledAttestations(db, { chainId: 31337, senders: ['sender'] })
  await traceSwap(db, 'a1')

  expect(plans).toHaveLength(10)
  for (const plan of plans) {
    expect(plan).toContain('attestations')
    expect(plan).not.toContain('Seq Scan on attestations')
  }
})
