import { beforeEach, expect, test } from 'vitest'
import { insertTestAttempt } from '../../../test/support/attempts.ts'
import { insertSigned, oneSigner } from '../../../test/support/attestations.ts'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { stub } from '../../../test/support/stub.ts'
import { insertTestSwap, moveTestSwap, settleTestSwap } from '../../../test/support/swaps.ts'
import type { Heads, LockRef } from '../../chains/chain.ts'
import { createMoves } from '../../engine/advance.ts'
import type { Work } from '../../engine/sender.ts'
import { findSwaps } from '../../store/swaps.ts'
import { type RelayDeps, relayAttested, releaseDeferred } from './relay.ts'

const CHAIN = 31_337
const HOUR = 3_600
const lease = { name: 'relay', holder: 'holder', fence: '1' }

const database = useTestDatabase()

beforeEach(() =>
  database.pool.query(
    'delete from attestations; delete from attempt_swaps; delete from swaps; delete from ops',
  ),
)

const headsAt = (seconds: number): Heads => {
  const block = { number: 1n, height: 1n, hash: '0x1', seconds }
  return { head: block, settle: block, hard: block }
}

/** A swap with a signed claim, refundable from this time on. Its input is 1,000. */
async function attested(refundDeadline: number): Promise<string> {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await settleTestSwap(pool, swap)
  await pool.query('update ops set refund_deadline = $2 from swaps s where s.op_id = ops.id and s.id = $1', [
    swap.swapId,
    refundDeadline,
  ])
  await insertSigned(pool, { chainId: CHAIN, kind: 'claim', swapIds: [swap.swapId] })
  return swap.swapId
}

/** Without `left` the token has no cap. */
type Escrow = {
  left: bigint | undefined
  state?: 'locked' | 'claimed'
  isBlocked?: boolean
  fits?: boolean
  /** Without it, attested refunds have no limit. */
  refundRoom?: bigint
  isPublic?: boolean
}

/** A relayer and its transactions, with their fee bounds. */
function relayerSeeing(escrow: Escrow) {
  const sent: string[] = []
  const planned: string[] = []
  const deps = {
    pool: database.pool,
    moves: createMoves(database.pool, () => {}),
    share: () => ({ of: 1, index: 0 }),
    isRefundable: async () => true,
    ...oneSigner,
    origin: {
      chainId: CHAIN,
      readAttesters: oneSigner.readAttesters,
      readRefundRoom: async () => escrow.refundRoom,
      isRefundPublic: () => escrow.isPublic ?? false,
      async planClaim(swaps: readonly { id: string }[]) {
        planned.push(...swaps.map(({ id }) => id))
        return {}
      },
      async planRefund(_swap: unknown, attested: unknown) {
        planned.push(attested ? 'attested' : 'public')
        return {}
      },
      canRefund: async () => !escrow.isBlocked,
      readClaimCap: async () =>
        escrow.left === undefined ? undefined : { perHour: 5_000n, left: escrow.left, claimed: 0n },
      readLocks: async (ops: readonly LockRef[]) =>
        new Map(ops.map(({ hash }) => [hash, escrow.state ?? 'locked'])),
    },
    sender: {
      room: () => 16,
      fits: async () => escrow.fits ?? true,
      async send(_lease: unknown, _heads: unknown, { role, swapIds, record }: Work) {
        sent.push(...swapIds)
        const [swapId = ''] = swapIds
        const attemptId = await insertTestAttempt(database.pool, { swapId, accountId: '' }, role)
        return record(database.pool as never, { attemptId, txHash: '0x' })
      },
    },
  }
  return { deps: stub<RelayDeps>(deps), sent, planned }
}

const aMinutePasses = () =>
  database.pool.query(`update tx_attempts set created_at = created_at - interval '2 minutes'`)

test('the claim with the earliest refund deadline is sent first', async () => {
  const [far, near] = [await attested(900), await attested(100)]
  const { deps, sent } = relayerSeeing({ left: 5_000n })

  await relayAttested(deps, lease, headsAt(0))

  expect(sent).toEqual([near, far])
})

test('a claim that this hour has no room for is sent in the next hour', async () => {
  const swapId = await attested(9_000)
  const full = relayerSeeing({ left: 999n })
  const fresh = relayerSeeing({ left: 5_000n })

  await relayAttested(full.deps, lease, headsAt(HOUR - 1))
  await relayAttested(fresh.deps, lease, headsAt(HOUR))

  expect([full.sent, fresh.sent]).toEqual([[], [swapId]])
})

test('a claim deferred by the cap is sent again in the next hour, before finality, and only once', async () => {
  const swapId = await attested(9_000)
  const { deps, sent } = relayerSeeing({ left: 5_000n })
  const relay = async (seconds: number) => {
    await releaseDeferred(deps, headsAt(seconds))
    await relayAttested(deps, lease, headsAt(seconds))
    await aMinutePasses()
  }

  await relay(HOUR - 10)
  await relay(HOUR - 1)
  expect(sent).toEqual([swapId])

  await relay(HOUR)
  await relay(HOUR + 60)
  expect(sent).toEqual([swapId, swapId])
})

test('a mined claim is not sent again in the next hour', async () => {
  const swapId = await attested(9_000)
  const { deps, sent } = relayerSeeing({ left: 5_000n, state: 'claimed' })

  await relayAttested(deps, lease, headsAt(HOUR - 10))
  await aMinutePasses()
  await releaseDeferred(deps, headsAt(HOUR))
  await relayAttested(deps, lease, headsAt(HOUR))

  expect(sent).toEqual([swapId])
})

/** A swap with a signed refund, valid until this time. */
async function refundable(validUntil = 100): Promise<string> {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  for (const event of ['lockRecorded', 'lockSeen'] as const) await moveTestSwap(pool, swap, event)
  await pool.query('update swaps set origin_final = true')
  await moveTestSwap(pool, swap, 'deliveryImpossible', { refundReason: 'PRICE_MOVED', proof: {} })
  const swapIds = [swap.swapId]
  await insertSigned(pool, { chainId: CHAIN, kind: 'refund', swapIds, validUntil })
  return swap.swapId
}

const stateOf = async (id: string) => (await findSwaps(database.pool, [id]))[0]?.state
const attestations = async () =>
  (await database.pool.query<{ attempt_id: string | null }>('select attempt_id from attestations')).rows

test.each([
  ['at the last second of its signature', 100, true],
  ['after the last second of its signature', 101, false],
])('a refund is sent %s, or signed again', async (_, seconds, isSent) => {
  const swapId = await refundable(100)
  const { deps, sent } = relayerSeeing({ left: 0n })

  await relayAttested(deps, lease, headsAt(seconds))

  expect(sent).toEqual(isSent ? [swapId] : [])
  expect(await stateOf(swapId)).toBe(isSent ? 'refunding' : 'refundDecided')
  expect(await attestations()).toHaveLength(isSent ? 1 : 0)
})

test('a refund that the wallet cannot receive is reported as blocked, and sent once it can', async () => {
  const swapId = await refundable()
  const blocked = relayerSeeing({ left: 0n, isBlocked: true })

  await relayAttested(blocked.deps, lease, headsAt(0))
  await relayAttested(blocked.deps, lease, headsAt(0))
  expect([blocked.sent, await stateOf(swapId)]).toEqual([[], 'refundBlocked'])
  const { deps, sent } = relayerSeeing({ left: 0n })
  await relayAttested(deps, lease, headsAt(0))

  expect([sent, await stateOf(swapId)]).toEqual([[swapId], 'refunding'])
})

test('a claim of terms that the wallet did not sign is dropped, and not sent', async () => {
  await attested(9_000)
  const { deps, sent } = relayerSeeing({ left: 5_000n })

  await relayAttested({ ...deps, isRefundable: async () => false }, lease, headsAt(0))

  expect(sent).toEqual([])
  expect((await database.pool.query('select 1 from attestations')).rows).toEqual([])
})

test('a key without room sends nothing', async () => {
  const swapId = await attested(100)
  const { deps, sent } = relayerSeeing({ left: 5_000n })
  deps.sender.room = () => 0

  await relayAttested(deps, lease, headsAt(0))

  expect([sent, await stateOf(swapId)]).toEqual([[], 'settled'])
})

test.each([
  ['of exactly the remaining capacity', 1_000n, true],
  ['of more than the remaining capacity', 999n, false],
  ['of a token without a cap', undefined, true],
])('a claim %s is sent, or waits', async (_, left, isSent) => {
  const swapId = await attested(100)
  const { deps, sent } = relayerSeeing({ left })

  await relayAttested(deps, lease, headsAt(0))

  expect(sent).toEqual(isSent ? [swapId] : [])
})

test.each(['claim', 'refund'] as const)('a %s of a swap that has moved on is dropped', async (kind) => {
  const swapId = await (kind === 'claim' ? attested(100) : refundable())
  const end = kind === 'claim' ? 'claimFinal' : 'refundFinal'
  const event = kind === 'claim' ? 'claimRecorded' : 'refundRecorded'
  for (const each of [event, end] as const) await moveTestSwap(database.pool, { swapId, accountId: '' }, each)
  const { deps, sent } = relayerSeeing({ left: 5_000n })

  await relayAttested(deps, lease, headsAt(0))

  expect([sent, await attestations()]).toEqual([[], []])
})

/** Two claims under one signature. */
async function attestedTogether(): Promise<string[]> {
  const [first, second] = [await attested(100), await attested(100)]
  await database.pool.query('delete from attestations')
  const swapIds = [first, second]
  await insertSigned(database.pool, { chainId: CHAIN, kind: 'claim', swapIds })
  return swapIds
}

test.each([
  ['fits into a block', true],
  ['does not fit into a block', false],
])('a batch that %s is sent, or signed again in smaller ones', async (_, fits) => {
  const swapIds = await attestedTogether()
  const { deps, sent } = relayerSeeing({ left: 5_000n, fits })

  await relayAttested(deps, lease, headsAt(0))

  expect([sent, (await attestations()).length]).toEqual(fits ? [swapIds, 1] : [[], 0])
})

test('the signature covers the whole batch, and the transaction is recorded for the waiting swaps', async () => {
  const [gone = '', open = ''] = await attestedTogether()
  for (const event of ['claimRecorded', 'claimFinal'] as const)
    await moveTestSwap(database.pool, { swapId: gone, accountId: '' }, event)
  const { deps, sent, planned } = relayerSeeing({ left: 5_000n })

  await relayAttested(deps, lease, headsAt(0))

  expect([planned, sent]).toEqual([[gone, open], [open]])
})

test('of two relayers that read the same claim one sends it', async () => {
  await attested(100)
  const { deps } = relayerSeeing({ left: 5_000n })
  const answers: boolean[] = []
  const { send } = deps.sender
  deps.sender.send = async (...args) => {
    answers.push(await send(...args), await send(...args))
    return true
  }

  await relayAttested(deps, lease, headsAt(0))

  expect(answers).toEqual([true, false])
})

test('a claim of a token without a cap is not sent again in the next hour', async () => {
  const swapId = await attested(9_000)
  const { deps, sent } = relayerSeeing({ left: undefined })

  await relayAttested(deps, lease, headsAt(HOUR - 10))
  await aMinutePasses()
  await releaseDeferred(deps, headsAt(HOUR))
  await relayAttested(deps, lease, headsAt(HOUR))

  expect(sent).toEqual([swapId])
})

test.each([
  ['of exactly the remaining capacity', 1_000n, true],
  ['while refunds are stopped or the hour is full', 999n, false],
])('a refund %s is sent, or reported as blocked', async (_, refundRoom, isSent) => {
  const swapId = await refundable()
  const { deps, sent } = relayerSeeing({ left: 0n, refundRoom })

  await relayAttested(deps, lease, headsAt(0))

  expect(sent).toEqual(isSent ? [swapId] : [])
  expect(await stateOf(swapId)).toBe(isSent ? 'refunding' : 'refundBlocked')
})

test('after its deadline an input goes back without attesters, caps and stops', async () => {
  const swapId = await refundable(100)
  await database.pool.query('delete from attestation_signatures')
  const { deps, sent, planned } = relayerSeeing({ left: 0n, refundRoom: 0n, isPublic: true })

  await relayAttested(deps, lease, headsAt(101))

  expect([sent, planned]).toEqual([[swapId], ['public']])
})

test('nothing is sent before enough members of the set have signed', async () => {
  const swapId = await attested(100)
  const { deps, sent } = relayerSeeing({ left: 5_000n })
  const twoOf = async () => ({ members: ['signer', 'second', 'third'], threshold: 2 })
  deps.origin.readAttesters = twoOf
  const add = (signer: string, signature: string) =>
    database.pool.query(
      'insert into attestation_signatures (attestation_id, signer, signature) select max(id), $1, $2 from attestations',
      [signer, signature],
    )

  await relayAttested(deps, lease, headsAt(0))
  await add('stranger', 'by stranger')
  await add('second', 'by stranger')
  await relayAttested(deps, lease, headsAt(0))
  expect(sent).toEqual([])
  await add('third', 'by third')
  await relayAttested(deps, lease, headsAt(0))

  expect(sent).toEqual([swapId])
})

test('a refund before its deadline is sent with its signatures', async () => {
  const swapId = await refundable()
  const { deps, sent, planned } = relayerSeeing({ left: 0n })

  await relayAttested(deps, lease, headsAt(0))

  expect([sent, planned]).toEqual([[swapId], ['attested']])
})

test('a batch with terms that one wallet did not sign is dropped whole', async () => {
  const [unsigned] = await attestedTogether()
  const { deps, sent } = relayerSeeing({ left: 5_000n })

  await relayAttested({ ...deps, isRefundable: async ({ id }) => id !== unsigned }, lease, headsAt(0))

  expect([sent, await attestations()]).toEqual([[], []])
})

test('a claim is sent though its wallet could receive no refund', async () => {
  const swapId = await attested(100)
  const { deps, sent } = relayerSeeing({ left: 5_000n, isBlocked: true, refundRoom: 0n })

  await relayAttested(deps, lease, headsAt(0))

  expect(sent).toEqual([swapId])
})

test('a claim needs its signatures, also when anyone may refund its input', async () => {
  await attested(100)
  await database.pool.query('delete from attestation_signatures')
  const { deps, sent } = relayerSeeing({ left: 5_000n, isPublic: true })

  await relayAttested(deps, lease, headsAt(0))

  expect(sent).toEqual([])
})

test('a single claim cannot be split, and is sent though it does not fit now', async () => {
  const swapId = await attested(100)
  const { deps, sent } = relayerSeeing({ left: 5_000n, fits: false })

  await relayAttested(deps, lease, headsAt(0))

  expect(sent).toEqual([swapId])
})

test('a claim that the escrow would refuse is dropped, and proposed again', async () => {
  await attested(100)
  const { deps, sent } = relayerSeeing({ left: 5_000n })
  deps.origin.planClaim = async () => undefined

  await relayAttested(deps, lease, headsAt(0))

  expect([sent, await attestations()]).toEqual([[], []])
})
