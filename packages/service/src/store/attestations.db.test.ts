import { expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, moveTestSwap, settleTestSwap } from '../../test/support/swaps.ts'
import { markAttemptsFinal } from './attempts.ts'
import {
  bindAttestation,
  closeAttestation,
  dropAttestation,
  findClaimsOfEarlierHours,
  findDisputed,
  findUnsent,
  insertAttestation,
  releaseAttestations,
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

/** A proposed outcome of a new swap. Returns its id. */
async function propose(change = '', { kind = 'claim', swaps = 1, refundDeadline = 0 } = {}): Promise<string> {
  const { pool } = database
  const ids: string[] = []
  for (let count = 0; count < swaps; count += 1)
    ids.push((await insertTestSwap(pool, await insertTestAccount(pool))).swapId)
  await pool.query(
    'update ops o set refund_deadline = $2 from swaps s where s.op_id = o.id and s.id = any($1)',
    [ids, refundDeadline],
  )
  await insertAttestation(pool, { chainId: CHAIN, kind: kind as 'claim', swapIds: ids })
  const { rows } = await pool.query<{ id: string }>('select max(id) as id from attestations')
  const id = rows[0]?.id ?? ''
  if (change) await pool.query(`update attestations set ${change} where id = $1`, [id])
  return id
}

const sign = (
  attestationId: string,
  check: { unproven?: string[]; signature?: string } = { signature: '0x' },
) =>
  database.pool.query(
    `insert into attestation_signatures (attestation_id, signer, signature, unproven) values ($1, 'a', $2, $3)`,
    [attestationId, check.signature, check.unproven ?? []],
  )

const clear = () => database.pool.query('truncate attestations, swaps, ops, tx_attempts cascade')
const share = { chainId: CHAIN, of: 2, index: 0 }

test('an attestation is sent by the relayer of its share, and by any if that one leaves it', async () => {
  await clear()
  const ids = [await propose(), await propose()]
  const own = ids.filter((id) => Number(id) % 2 === 0)
  await propose('chain_id = 5')
  const idsOf = async (index: number) =>
    (await findUnsent(database.pool, { ...share, index })).map(({ id }) => id)

  expect(await idsOf(0)).toEqual(own)
  expect(await idsOf(1)).toEqual(ids.filter((id) => !own.includes(id)))
  await database.pool.query(`update attestations set created_at = created_at - interval '11 seconds'`)

  expect((await idsOf(0)).sort()).toEqual(ids.sort())
})

test('signed attestations come first, by their deadline, and blocked refunds last', async () => {
  await clear()
  const { pool } = database
  const blocked = await propose('', { kind: 'refund', refundDeadline: 1 })
  await pool.query('alter table swaps disable trigger user')
  await pool.query(`update swaps set state = 'refundBlocked'`)
  await pool.query('alter table swaps enable trigger user')
  const unsigned = await propose('', { refundDeadline: 2 })
  const [far, near] = [await propose('', { refundDeadline: 9 }), await propose('', { refundDeadline: 8 })]
  for (const id of [blocked, far, near]) await sign(id)

  const all = await findUnsent(pool, { chainId: CHAIN, of: 1, index: 0 })

  expect(all.map(({ id }) => id)).toEqual([near, far, unsigned, blocked])
  expect(all.map(({ signatures }) => signatures.length)).toEqual([1, 1, 0, 1])
})

test('a check without a signature is none', async () => {
  await clear()
  const [id, limited] = [await propose(), await propose('valid_until = 77')]
  await sign(id, { unproven: ['swp'] })

  expect(await findUnsent(database.pool, { chainId: CHAIN, of: 1, index: 0 })).toMatchObject([
    { id, signatures: [], validUntil: undefined },
    { id: limited, signatures: [], validUntil: 77 },
  ])
})

test('an attestation is bound to one transaction, and then neither bound again nor dropped', async () => {
  await clear()
  const { pool } = database
  const [id, other] = [await propose(), await propose()]
  const swap = { swapId: (await pool.query('select id from swaps')).rows[0].id, accountId: '' }
  const attemptId = await insertTestAttempt(pool, swap, 'claim')

  expect(await bindAttestation(pool, { id, attemptId, hour: 3 })).toBe(true)
  expect(await bindAttestation(pool, { id, attemptId, hour: 4 })).toBe(false)
  expect([await dropAttestation(pool, id), await dropAttestation(pool, other)]).toEqual([false, true])
  expect((await pool.query('select id, sent_hour from attestations')).rows).toEqual([{ id, sent_hour: '3' }])
})

const late = `created_at = created_at - interval '31 seconds'`

test.each([
  ['that is young', 'chain_id = chain_id', {}],
  ['of another chain', `${late}, chain_id = 5`, {}],
  ['of one swap', late, { swaps: 1 }],
  ['of a refund', late, { kind: 'refund' }],
])('a check %s disputes no claim', async (_, change, options) => {
  await clear()
  const disputed = await propose(late, { swaps: 2 })
  const other = await propose(change, { swaps: 2, ...options })
  for (const id of [disputed, other]) await sign(id, { unproven: ['swp'] })

  expect(await findDisputed(database.pool, CHAIN)).toMatchObject([{ id: disputed, unproven: ['swp'] }])
})

test('a claim that was sent, or that nobody doubts, is not disputed', async () => {
  await clear()
  const { pool } = database
  const [sent, undoubted] = [await propose(late, { swaps: 2 }), await propose(late, { swaps: 2 })]
  const swap = { swapId: (await pool.query('select id from swaps')).rows[0].id, accountId: '' }
  await sign(sent, { unproven: ['swp'] })
  await bindAttestation(pool, { id: sent, attemptId: await insertTestAttempt(pool, swap, 'claim'), hour: 0 })
  await sign(undoubted)

  expect(await findDisputed(pool, CHAIN)).toEqual([])
})

// The claim was sent in hour 0, two minutes ago.
test.each([
  ['of this hour', `update attestations set sent_hour = 1 where id = $1`],
  ['on another chain', 'update attestations set chain_id = 5 where id = $1'],
  [
    'that was sent just now',
    `update tx_attempts set created_at = clock_timestamp()
      where id = (select attempt_id from attestations where id = $1)`,
  ],
  ['that is a refund', `update attestations set kind = 'refund' where id = $1`],
  [
    'of a swap that ended',
    `update swaps set state = 'closed', version = version + 1
      where id = any((select swap_ids from attestations where id = $1)::text[])`,
  ],
])('a claim %s is not sent again in the next hour', async (_, change) => {
  await clear()
  const { pool } = database
  const [found, other] = [await claimUnderWay(), await claimUnderWay()]
  await pool.query(`update tx_attempts set created_at = created_at - interval '2 minutes'`)
  const idOf = async (swapId: string): Promise<string> =>
    (await pool.query('select id from attestations where $1 = any(swap_ids)', [swapId])).rows[0].id
  await pool.query(change, [await idOf(other.swapId)])

  expect(await findClaimsOfEarlierHours(pool, { chainId: CHAIN, hour: 1 })).toEqual([
    { attestationId: await idOf(found.swapId), swapId: found.swapId },
  ])
})

test('each swap of a transaction is found once with every attestation that names it', async () => {
  await clear()
  const { pool } = database
  const [{ swapId: first, attemptId }, { swapId: second }] = [await claimUnderWay(), await claimUnderWay()]
  await pool.query(`insert into attempt_swaps (attempt_id, swap_id, role) values ($1, $2, 'claim')`, [
    attemptId,
    second,
  ])
  await pool.query('update attestations set attempt_id = $1', [attemptId])
  await pool.query('update attestations set swap_ids = $2 where $1 = any(swap_ids)', [first, [first, second]])
  await pool.query(`update tx_attempts set created_at = created_at - interval '2 minutes'`)

  const found = await findClaimsOfEarlierHours(pool, { chainId: CHAIN, hour: 1 })

  expect(found.map(({ swapId }) => swapId).sort()).toEqual([first, second, second].sort())
})

test('only claims are released to be sent again', async () => {
  await clear()
  const { pool } = database
  const [claim, refund, other] = [await claimUnderWay(), await claimUnderWay(), await claimUnderWay()]
  const { rows } = await pool.query('select id from attestations order by id')
  await pool.query(`update attestations set kind = 'refund' where id = $1`, [rows[1].id])

  await releaseAttestations(pool, [rows[0].id, rows[1].id])

  const released = await Promise.all([claim, refund, other].map(({ swapId }) => unsentOf(swapId)))
  expect(released.map((each) => each !== undefined)).toEqual([true, false, false])
})

test('a claim whose transaction became final just now, or of another chain, is not released yet', async () => {
  await clear()
  const { pool } = database
  const { swapId, attemptId, sender } = await claimUnderWay()
  await markAttemptsFinal(pool, [{ id: attemptId }], 9n)
  await release([sender])
  expect(await unsentOf(swapId)).toBeUndefined()

  await pool.query(`update tx_attempts set final_at = final_at - interval '1 minute'`)
  await pool.query('update swaps set origin_chain = 5')
  await release([sender])

  expect(await unsentOf(swapId)).toBeUndefined()
})

test('the transactions of another role do not hold a claim', async () => {
  await clear()
  const { pool } = database
  const { swapId, attemptId, sender } = await claimUnderWay()
  await markAttemptsFinal(pool, [{ id: attemptId }], 9n)
  await pool.query(`update tx_attempts set final_at = final_at - interval '1 minute'`)
  await insertTestAttempt(pool, { swapId, accountId: '' }, 'recover', { sender, replacement: 1 })

  await release([sender])

  expect(await unsentOf(swapId)).toMatchObject({ kind: 'claim' })
})
