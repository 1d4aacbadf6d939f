import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, moveTestSwap, settleTestSwap, type TestSwap } from '../../test/support/swaps.ts'
import type { LockRef, PaidOp } from '../chains/chain.ts'
import {
  bindAttestation,
  releaseStalledAttestations,
  type WaitingAttestation,
} from '../store/attestations.ts'
import { type AttestDeps, attestAll } from './attest.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await startTestDatabase()
})
afterAll(() => database.stop())
beforeEach(() =>
  database.pool.query('delete from attestations; delete from attempt_swaps; delete from swaps'),
)

const query = async (sql: string, values: unknown[] = []) => (await database.pool.query(sql, values)).rows

/** A finally delivered swap whose input can be claimed. */
async function delivered(): Promise<TestSwap> {
  const swap = await insertTestSwap(database.pool, await insertTestAccount(database.pool))
  await settleTestSwap(database.pool, swap)
  await query('update swaps set origin_final = true, delivery_final = true where id = $1', [swap.swapId])
  return swap
}

type Attesting = { escrowHas: string; silent?: number }

/** One sweep of an attester that has both keys and signs with the escrow's current one. */
function attest({ escrowHas, silent }: Attesting): Promise<void> {
  const at = { number: 9n, height: 9n, hash: '0x', seconds: 0 }
  const chain = {
    maxBatch: 20,
    readMaxClaims: async () => 20,
    readHeads: async () => ({ head: at, settle: at, hard: at }),
    readLocks: async (ops: readonly LockRef[]) => new Map(ops.map(({ hash }) => [hash, 'locked'])),
    findDeliveries: async (paid: readonly PaidOp[]) =>
      new Map(paid.map(({ op }) => [op.hash, { amount: 990n, block: 1n }])),
  }
  const dead = { ...chain, readHeads: () => Promise.reject(new Error('silent')) }
  const deps = {
    pool: database.pool,
    isSigned: async () => true,
    isVerified: () => true,
    onAttested: () => {},
    onRefused: () => {},
    chainOf: (chainId: number) => (chainId === silent ? dead : chain),
    signClaims: async () => escrowHas,
    isTaken: async ({ signature }: WaitingAttestation) => signature === escrowHas,
  }
  return attestAll(deps as unknown as AttestDeps)
}

const later = () => query("update attestations set created_at = created_at - interval '11 seconds'")
const signatures = async () => (await query('select signature from attestations')).map((row) => row.signature)

test('an unsent signature of the previous attester is replaced by one of the escrow’s current attester', async () => {
  await delivered()
  await attest({ escrowHas: 'old' })
  await later()

  await attest({ escrowHas: 'old' })
  expect(await signatures()).toEqual(['old'])
  await attest({ escrowHas: 'new' })
  expect(await signatures()).toEqual(['new'])
})

test('a claim that failed with the previous attester’s signature is signed and sent again', async () => {
  const { pool } = database
  const swap = await delivered()
  await attest({ escrowHas: 'old' })
  const attemptId = await insertTestAttempt(pool, swap, 'claim')
  const [{ id }] = (await query('select id from attestations')) as [{ id: string }]
  await bindAttestation(pool, { id, attemptId, hour: 0 })
  await moveTestSwap(pool, swap, 'claimRecorded')
  await later()
  await attest({ escrowHas: 'new' })
  expect(await signatures()).toEqual(['old'])

  await query("update tx_attempts set final_at = now() - interval '1 minute' where id = $1", [attemptId])
  await releaseStalledAttestations(pool, { chainId: 31337, senders: ['sender'] })
  await attest({ escrowHas: 'new' })

  expect(await query('select signature, attempt_id, swap_ids from attestations')).toEqual([
    { signature: 'new', attempt_id: null, swap_ids: [swap.swapId] },
  ])
})

test('an unreachable chain delays only its own swaps', async () => {
  const [held, other] = [await delivered(), await delivered()]
  await query('update ops set origin_chain = 5 where id = (select op_id from swaps where id = $1)', [
    held.swapId,
  ])
  await query('update swaps set origin_chain = 5 where id = $1', [held.swapId])

  await expect(attest({ escrowHas: 'new', silent: 5 })).rejects.toThrow('silent')

  expect(await query('select swap_ids from attestations')).toEqual([{ swap_ids: [other.swapId] }])
})
