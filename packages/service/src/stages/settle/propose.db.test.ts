import { beforeEach, expect, test } from 'vitest'
import { insertTestAttempt } from '../../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { insertTestSwap, moveTestSwap, settleTestSwap } from '../../../test/support/swaps.ts'
import type { Heads } from '../../chains/chain.ts'
import { insertAttestation } from '../../store/attestations.ts'
import { type ProposeDeps, proposeOutcomes } from './propose.ts'

const CHAIN = 31_337

const database = useTestDatabase()
beforeEach(() => database.pool.query('truncate attestations, swaps, ops cascade'))

/** A finally delivered swap, whose input can be claimed. */
async function delivered(): Promise<string> {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await settleTestSwap(pool, swap)
  await pool.query('update swaps set origin_final = true, delivery_final = true')
  return swap.swapId
}

/** A swap that cannot be delivered. */
async function undeliverable(): Promise<string> {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  for (const event of ['lockRecorded', 'lockSeen'] as const) await moveTestSwap(pool, swap, event)
  await pool.query('update swaps set origin_final = true')
  await moveTestSwap(pool, swap, 'deliveryImpossible', { refundReason: 'PRICE_MOVED', proof: {} })
  return swap.swapId
}

type World = { unsigned?: string; maxClaims?: number; meanwhile?: () => Promise<void> }

/** One round at second 500 of the head, where the members a and b have to sign. Returns the reads of the limit. */
async function propose({ unsigned, maxClaims = 20, meanwhile }: World = {}): Promise<number> {
  let reads = 0
  const at = { number: 9n, height: 9n, hash: '0x', seconds: 400 }
  const heads: Heads = { head: { ...at, seconds: 500 }, settle: at, hard: at }
  const deps: ProposeDeps = {
    pool: database.pool,
    origin: {
      chainId: CHAIN,
      readMaxClaims: async () => {
        reads += 1
        return maxClaims
      },
      readAttesters: async () => {
        await meanwhile?.()
        return { members: ['a', 'b'], threshold: 2 }
      },
    },
    isRefundable: async ({ id }) => id !== unsigned,
    recoverSigner: async (_attested, signature) => signature.slice('by '.length),
    onRejected: () => {},
  }
  await proposeOutcomes(deps, heads)
  return reads
}

type Row = { kind: string; swap_ids: string[]; valid_until: string | null }
const proposed = async () =>
  (
    await database.pool.query<Row>('select kind, swap_ids, valid_until from attestations order by id')
  ).rows.map(({ kind, swap_ids, valid_until }) => ({ kind, swapIds: swap_ids, validUntil: valid_until }))

test('a refund is proposed once, and can be sent for an hour', async () => {
  const swapId = await undeliverable()

  await propose()
  await propose()

  expect(await proposed()).toEqual([{ kind: 'refund', swapIds: [swapId], validUntil: '4100' }])
})

test('outcomes of terms that the wallet did not sign are not proposed', async () => {
  const [refund, claim] = [await undeliverable(), await delivered()]

  await propose({ unsigned: refund })
  expect((await proposed()).map(({ kind }) => kind)).toEqual(['claim'])
  await database.pool.query('delete from attestations')
  await propose({ unsigned: claim })

  expect((await proposed()).map(({ kind }) => kind)).toEqual(['refund'])
})

test('claims are proposed in batches that fit into a block, whose limit is read if there is a claim', async () => {
  expect(await propose()).toBe(0)
  const ids = [await delivered(), await delivered(), await delivered()]

  expect(await propose({ maxClaims: 2 })).toBe(1)

  const batches = (await proposed()).map(({ swapIds }) => swapIds)
  expect(batches.map(({ length }) => length)).toEqual([2, 1])
  expect(batches.flat().sort()).toEqual(ids.sort())
})

/** By place in the claim: place 2 is a swap of another one. */
type Said = { unproven?: readonly number[]; signs?: boolean }

/** A claim of two swaps, proposed half a minute ago, and its checks by the attesters. */
async function disputed(checks: Record<string, Said>): Promise<string[]> {
  const { pool } = database
  const swapIds = [await delivered(), await delivered()]
  await insertAttestation(pool, { chainId: CHAIN, kind: 'claim', swapIds })
  await pool.query("update attestations set created_at = created_at - interval '31 seconds'")
  for (const [signer, { unproven, signs }] of Object.entries(checks))
    await pool.query(
      `insert into attestation_signatures (attestation_id, signer, signature, unproven)
       select max(id), $1, $2, $3 from attestations`,
      [signer, signs ? `by ${signer}` : null, (unproven ?? []).map((index) => swapIds[index] ?? 'swp_other')],
    )
  return swapIds
}

test.each<[string, Record<string, Said>, boolean]>([
  ['one attester has not seen one of', { a: { unproven: [1] } }, true],
  ['one signed, and the other has not seen one of', { a: { signs: true }, b: { unproven: [1] } }, true],
  ['no attester has seen any of', { a: { unproven: [0, 1] } }, false],
  ['an attester has not seen another swap than those of', { a: { unproven: [2] } }, false],
  ['enough signed', { a: { signs: true, unproven: [1] }, b: { signs: true } }, false],
])('a claim that %s is split, or not', async (_, checks, isSplit) => {
  const [first = '', second = ''] = await disputed(checks)

  await propose()

  expect((await proposed()).map(({ swapIds }) => swapIds)).toEqual(
    isSplit ? [[first], [second]] : [[first, second]],
  )
})

test('a claim that is sent while it is judged is not split', async () => {
  const { pool } = database
  const swapIds = await disputed({ a: { unproven: [1] } })
  let attempts = 0
  const send = async () => {
    if (attempts > 0) return
    attempts += 1
    const [first = '', second = ''] = swapIds
    const id = await insertTestAttempt(pool, { swapId: first, accountId: '' }, 'claim')
    await pool.query(`insert into attempt_swaps (attempt_id, swap_id, role) values ($1, $2, 'claim')`, [
      id,
      second,
    ])
    await pool.query('update attestations set attempt_id = $1', [id])
    for (const swapId of swapIds) await moveTestSwap(pool, { swapId, accountId: '' }, 'claimRecorded')
  }

  await propose({ meanwhile: send })

  expect((await proposed()).map((each) => each.swapIds)).toEqual([swapIds])
})
