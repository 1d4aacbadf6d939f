import { afterAll, beforeEach, expect, test } from 'vitest'
import type { Heads, LockRef } from '../../chains/chain.ts'
import type { Work } from '../../lanes/sender.ts'
import { insertAttestation } from '../../store/attestations.ts'
import { insertTestAttempt } from '../../store/test-attempts.ts'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../store/test-database.ts'
import { insertTestSwap, settleTestSwap } from '../../store/test-swaps.ts'
import { type RelayDeps, relayAttested, releaseDeferred } from './relay.ts'

const CHAIN = 31_337
const HOUR = 3_600
const lease = { name: 'relay', holder: 'holder', fence: '1' }

let database: TestDatabase

beforeEach(async () => {
  await database?.stop()
  database = await startTestDatabase()
})
afterAll(() => database.stop())

const headsAt = (seconds: number): Heads => {
  const block = { number: 1n, height: 1n, hash: '0x1', seconds }
  return { head: block, settle: block, hard: block }
}

/** A swap whose claim is signed, and may be sent back from this time on. Its input is 1,000. */
async function attested(refundDeadline: number): Promise<string> {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await settleTestSwap(pool, swap)
  await pool.query('update ops set refund_deadline = $2 from swaps s where s.op_id = ops.id and s.id = $1', [
    swap.swapId,
    refundDeadline,
  ])
  await insertAttestation(pool, { chainId: CHAIN, kind: 'claim', swapIds: [swap.swapId], signature: '0x' })
  return swap.swapId
}

type Escrow = { left: bigint; state?: 'locked' | 'claimed' }

/** A relayer, and what it sent. */
function relayerSeeing(escrow: Escrow) {
  const sent: string[] = []
  const deps = {
    pool: database.pool,
    share: { of: 1, index: 0 },
    isRefundable: async () => true,
    origin: {
      chainId: CHAIN,
      planClaim: async () => ({}),
      readClaimCap: async () => ({ perHour: 5_000n, left: escrow.left, claimed: 0n }),
      readLocks: async (ops: readonly LockRef[]) =>
        new Map(ops.map(({ hash }) => [hash, escrow.state ?? 'locked'])),
    },
    sender: {
      room: () => 16,
      async send(_lease: unknown, _heads: unknown, { swapIds, record }: Work) {
        sent.push(...swapIds)
        const [swapId = ''] = swapIds
        const attemptId = await insertTestAttempt(database.pool, { swapId, accountId: '' }, 'claim')
        return record(database.pool as never, { attemptId, txHash: '0x' })
      },
    },
  }
  return { deps: deps as unknown as RelayDeps, sent }
}

const aMinutePasses = () =>
  database.pool.query(`update tx_attempts set created_at = created_at - interval '2 minutes'`)

test('what can be sent back first is claimed first', async () => {
  const [far, near] = [await attested(900), await attested(100)]
  const { deps, sent } = relayerSeeing({ left: 5_000n })

  await relayAttested(deps, lease, headsAt(0))

  expect(sent).toEqual([near, far])
})

test('a claim that this hour has no room for is not sent before the next', async () => {
  const swapId = await attested(9_000)
  const full = relayerSeeing({ left: 999n })
  const fresh = relayerSeeing({ left: 5_000n })

  await relayAttested(full.deps, lease, headsAt(HOUR - 1))
  await relayAttested(fresh.deps, lease, headsAt(HOUR))

  expect([full.sent, fresh.sent]).toEqual([[], [swapId]])
})

test('a claim that the cap put off is sent again when the hour turns, long before it is final, and once', async () => {
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

test('a claim that is in a block is not sent again when the hour turns', async () => {
  const swapId = await attested(9_000)
  const { deps, sent } = relayerSeeing({ left: 5_000n, state: 'claimed' })

  await relayAttested(deps, lease, headsAt(HOUR - 10))
  await aMinutePasses()
  await releaseDeferred(deps, headsAt(HOUR))
  await relayAttested(deps, lease, headsAt(HOUR))

  expect(sent).toEqual([swapId])
})
