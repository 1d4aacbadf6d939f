import { createLogins } from '@geoswap/devnet'
import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { stub } from '../../../test/support/stub.ts'
import { insertTestSwap, settleTestSwap, type TestSwap } from '../../../test/support/swaps.ts'
import type { Heads, LockRef, PaidOp } from '../../chains/chain.ts'
import { findProposed, recordCheck, settleOutcomes } from '../../store/attestations.ts'
import { createPool } from '../../store/db.ts'
import { migrate } from '../../store/migrate.ts'
import { proposeOutcomes } from '../settle/propose.ts'
import { type AttestDeps, attestAll } from './attest.ts'

const CHAIN = 31_337
const SET = { members: ['a', 'b', 'c'], threshold: 2 }

let database: TestDatabase
let logins: Pool[]
beforeAll(async () => {
  database = await startTestDatabase()
  const { attesters } = await createLogins(database.url, { attesters: 3 })
  await migrate(database.pool)
  logins = attesters.map((url) => createPool(url, { max: 2 }))
})
afterAll(async () => {
  await Promise.all(logins.map((pool) => pool.end()))
  await database.stop()
})
beforeEach(() =>
  database.pool.query('delete from attestations; delete from signed_outcomes; delete from swaps'),
)

const query = async (sql: string, values: unknown[] = []) => (await database.pool.query(sql, values)).rows

/** A finally delivered swap whose input can be claimed. */
async function delivered(refundDeadline = 300): Promise<TestSwap> {
  const swap = await insertTestSwap(database.pool, await insertTestAccount(database.pool))
  await settleTestSwap(database.pool, swap)
  await query('update swaps set origin_final = true, delivery_final = true where id = $1', [swap.swapId])
  await query('update ops set refund_deadline = $2 from swaps s where s.op_id = ops.id and s.id = $1', [
    swap.swapId,
    refundDeadline,
  ])
  return swap
}

const at = { number: 9n, height: 9n, hash: '0x', seconds: 0 }
const heads: Heads = { head: at, settle: at, hard: at }

/** One round of the worker. Sets change at the refund deadline 1,000. */
const propose = () =>
  proposeOutcomes(
    {
      pool: database.pool,
      origin: {
        chainId: CHAIN,
        readMaxClaims: async () => 20,
        readAttesters: async (deadline) => (deadline < 1_000 ? SET : { ...SET, threshold: 3 }),
      },
      isRefundable: async () => true,
      recoverSigner: async (_attested, signature) => signature.slice('by '.length),
      onRejected: () => {},
    },
    heads,
  )

type Seeing = { unseen?: string; isSilent?: boolean; signs?: string }

/** One sweep of an attester with its own login. */
async function attest(name: 'a' | 'b' | 'c', { unseen, isSilent, signs = `by ${name}` }: Seeing = {}) {
  const chain = {
    readHeads: async () => {
      if (isSilent) throw new Error('silent')
      return heads
    },
    readAttesters: async () => SET,
    readLocks: async (ops: readonly LockRef[]) => new Map(ops.map(({ hash }) => [hash, 'locked'])),
    findDeliveries: async (paid: readonly PaidOp[]) => {
      const seen = paid.filter(({ op }) => op.hash !== unseen)
      return new Map(seen.map(({ op }) => [op.hash, { amount: 990n, block: 1n }]))
    },
  }
  const deps = {
    pool: logins[SET.members.indexOf(name)],
    chains: { of: () => ({ chain, gate: { isOpen: true }, attestations: { sign: async () => signs } }) },
    isRefundable: async () => true,
    signers: [name],
    events: { onAttested() {}, onRefused() {}, onPostponed() {} },
  }
  await attestAll(stub<AttestDeps>(deps))
}

const batches = async () =>
  (await query('select swap_ids from attestations order by id')).map(({ swap_ids }) => swap_ids as string[])
const signers = async () =>
  (await query('select signer from attestation_signatures where signature is not null order by 1')).map(
    ({ signer }) => signer,
  )
const hashOf = async ({ swapId }: TestSwap) =>
  (await query('select o.hash from swaps s join ops o on o.id = s.op_id where s.id = $1', [swapId]))[0].hash

test('a claim is proposed once, and each attester signs the same batch with its own login', async () => {
  const swaps = [await delivered(), await delivered()]

  await propose()
  await attest('a')
  await propose()
  await attest('c')

  expect(await batches()).toEqual([swaps.map(({ swapId }) => swapId)])
  expect(await signers()).toEqual(['a', 'c'])
})

test('ops of different sets are never in one batch', async () => {
  const [before, after] = [await delivered(999), await delivered(1_000)]

  await propose()

  expect((await batches()).sort()).toEqual([[before.swapId], [after.swapId]].sort())
})

test('a swap that attesters cannot see delivered holds up no other of its batch', async () => {
  const [seen, unseen] = [await delivered(), await delivered()]
  const hash = await hashOf(unseen)
  await propose()
  for (const name of ['a', 'b'] as const) await attest(name, { unseen: hash })
  await propose()
  expect(await batches()).toHaveLength(1)

  await query("update attestations set created_at = created_at - interval '31 seconds'")
  await propose()
  for (const name of ['a', 'b'] as const) await attest(name, { unseen: hash })

  expect(await batches()).toEqual([[seen.swapId], [unseen.swapId]])
  expect(
    await query(
      `select distinct swap_ids from attestations a join attestation_signatures g on g.attestation_id = a.id
        where g.signature is not null`,
    ),
  ).toEqual([{ swap_ids: [seen.swapId] }])
})

test('a batch that enough attesters signed is not split, whatever another says', async () => {
  const swaps = [await delivered(), await delivered()]
  await propose()
  await attest('a')
  await attest('b')
  await attest('c', { unseen: await hashOf(swaps[0] as TestSwap) })

  await query("update attestations set created_at = created_at - interval '31 seconds'")
  await propose()

  expect(await batches()).toHaveLength(1)
})

test('an attester whose nodes are silent says nothing about a batch', async () => {
  await delivered()
  await propose()

  await expect(attest('a', { isSilent: true })).rejects.toThrow('silent')

  expect(await signers()).toEqual([])
})

test('an attester can write, change and block nothing of another', async () => {
  const swap = await delivered()
  const hash = await hashOf(swap)
  await propose()
  const [proposed] = await findProposed(logins[1] as Pool)
  const attestationId = proposed?.id ?? ''
  const liar = logins[0] as Pool

  await recordCheck(liar, { attestationId, signer: 'b', signature: 'garbage' })
  await settleOutcomes(liar, 'refund', [hash])
  await attest('b')
  const changed = await liar.query(
    "update attestation_signatures set signature = 'x' where written_by <> session_user",
  )

  expect(changed.rowCount).toBe(0)
  expect(
    await query(
      "select signature from attestation_signatures where signer = 'b' and written_by = 'local_attester_2'",
    ),
  ).toEqual([{ signature: 'by b' }])
  await expect(
    liar.query("insert into attestation_signatures (written_by) values ('local_attester_2')"),
  ).rejects.toThrow('permission denied')
  await expect(liar.query('delete from attestations')).rejects.toThrow('permission denied')
})
