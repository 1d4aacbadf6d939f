import { expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { stub } from '../../test/support/stub.ts'
import { insertTestSwap, moveTestSwap, type TestSwap } from '../../test/support/swaps.ts'
import type { Chain, Heads } from '../chains/chain.ts'
import { offerReplacements } from '../chains/evm/fees.ts'
import type { Attempt, Role } from '../store/attempts.ts'
import { declareLanes, takeLanes } from '../store/lanes.ts'
import { createSender } from './sender.ts'

const database = useTestDatabase()

// The base fee rose above the offered fee and above the quoted bound.
const OFFERED = { maxFeePerGas: '100', maxPriorityFeePerGas: '1', bound: '1000' }
const ASKED = { maxFeePerGas: '5000', maxPriorityFeePerGas: '1' }
const CALM = { maxFeePerGas: '100', maxPriorityFeePerGas: '1' }

/** Includes no transaction. */
const chain = stub<Chain>({
  ...{ chainId: 31_337, hasNonces: true, offerReplacements },
  readTerms: async () => ASKED,
  readOutcomes: async (_: string, open: Attempt[]) => ({
    final: [],
    consumed: [],
    unmined: open,
    nextNonce: 0,
  }),
  readCoins: async () => 10n ** 18n,
  sign: async () => ({ raw: '0x', txHash: crypto.randomUUID() }),
  broadcast: async () => {},
})
const heads = { head: { number: 9n, hash: '0x' }, hard: { number: 1n } } as Heads

const newSwap = async () => insertTestSwap(database.pool, await insertTestAccount(database.pool))

/** A key with one stuck transaction, and the replacement it reports and records. */
async function replaceStuck(
  [swap, ...batched]: readonly [TestSwap, ...TestSwap[]],
  role: Role,
  { asked = ASKED, meanwhile = async () => {}, isSignedFor = true } = {},
) {
  const { pool } = database
  const sender = `key ${crypto.randomUUID()}`
  const id = await insertTestAttempt(pool, swap, role, { sender })
  for (const { swapId } of batched)
    await pool.query('insert into attempt_swaps values ($1, $2, $3)', [id, swapId, role])
  const stuck = { request: { gas: 1, data: '0x' }, terms: OFFERED, sentAtBlock: '0' }
  await pool.query('update tx_attempts set request = $2 where id = $1', [id, stuck])
  await meanwhile()
  await declareLanes(pool, [sender])
  const [lease] = await takeLanes(pool, {
    names: [sender],
    holder: crypto.randomUUID(),
    ttlMs: 60_000,
    limit: 1,
  })
  if (!lease) throw new Error('No lane')
  const said: { swapIds: readonly string[]; by: string }[] = []
  await createSender({
    pool,
    address: sender,
    maxInFlight: 4,
    chain: { ...chain, readTerms: async () => asked, isSignedFor: async () => isSignedFor },
    isClaimable: () => true,
    events: {
      ...{ onSent() {}, onSendFault() {}, onRefused() {} },
      onReplaced: ({ swapIds, by }) => said.push({ swapIds, by }),
    },
  }).followUp(lease, heads)
  const { rows } = await pool.query<{ role: Role; by: string; maxFeePerGas: string; bound: string | null }>(
    `select role, tx_hash as by, request #>> '{terms,maxFeePerGas}' as "maxFeePerGas",
            request #>> '{terms,bound}' as bound from tx_attempts where sender = $1 and replacement = 1`,
    [sender],
  )
  return { said, recorded: rows }
}

test('a replacement is reported with its swaps and its new transaction hash', async () => {
  const swap = await newSwap()

  const { said, recorded } = await replaceStuck([swap], 'lock')

  expect(recorded).toHaveLength(1)
  expect(said).toEqual([{ swapIds: [swap.swapId], by: recorded[0]?.by }])
})

const LIFE = ['lockRecorded', 'lockSeen', 'deliveryRecorded', 'deliverySeen', 'claimRecorded'] as const
const lifeUntil = (last: (typeof LIFE)[number]) => LIFE.slice(0, LIFE.indexOf(last) + 1)

async function newSwapAfter(last: (typeof LIFE)[number]): Promise<TestSwap> {
  const swap = await newSwap()
  const change = { originTxHash: '0x', deliveryTxHash: '0x', lockedBlock: 1n, delivered: 990n }
  for (const event of lifeUntil(last)) await moveTestSwap(database.pool, swap, event, change)
  return swap
}

test.each([
  ['is signed again if its key signed it', true, 'lock'],
  ['that its key did not sign is cancelled', false, 'noop'],
])('a stored request %s', async (_, isSignedFor, role) => {
  const stuck = await newSwapAfter('lockRecorded')

  const { recorded } = await replaceStuck([stuck], 'lock', { asked: CALM, isSignedFor })

  expect(recorded).toMatchObject([{ role }])
})

test.each([
  ['lock', 'lockRecorded'],
  ['lock', 'lockSeen'],
  ['deliver', 'deliveryRecorded'],
] as const)('a %s above its fee bound is cancelled after %s', async (role, last) => {
  const { recorded } = await replaceStuck([await newSwapAfter(last)], role)

  expect(recorded).toMatchObject([{ role: 'noop' }])
})

test.each([
  ['lock', 'deliveryRecorded'],
  ['lock', 'deliverySeen'],
  ['lock', 'claimRecorded'],
  ['deliver', 'deliverySeen'],
  ['deliver', 'claimRecorded'],
] as const)('a %s that a reorg undid gets a fee bump at any price after %s', async (role, last) => {
  const { recorded } = await replaceStuck([await newSwapAfter(last)], role)

  expect(recorded).toMatchObject([{ role, maxFeePerGas: ASKED.maxFeePerGas, bound: null }])
})

const decideRefund = async (swap: TestSwap) => {
  await moveTestSwap(database.pool, swap, 'deliveryImpossible', {
    refundReason: 'DELIVERY_EXPIRED',
    proof: {},
  })
}
const refund = async (swap: TestSwap) => {
  await moveTestSwap(database.pool, swap, 'refundFinal', { refundReason: 'DELIVERY_EXPIRED' })
}
const fail = async (swap: TestSwap) => {
  await moveTestSwap(database.pool, swap, 'lockDead', { failureCode: 'OPERATION_EXPIRED', proof: {} })
}

test.each([
  ['is to be refunded', decideRefund],
  ['was refunded', refund],
  ['never had a lock', fail],
])('a delivery is cancelled once its swap %s', async (_, meanwhile) => {
  const swap = await newSwapAfter('deliveryRecorded')

  const { recorded } = await replaceStuck([swap], 'deliver', {
    asked: CALM,
    meanwhile: () => meanwhile(swap),
  })

  expect(recorded).toMatchObject([{ role: 'noop' }])
})

test('a delivery of several swaps is cancelled if one must not be paid, even if another was reported', async () => {
  const reported = await newSwapAfter('deliverySeen')
  const gone = await newSwapAfter('deliveryRecorded')

  const { recorded } = await replaceStuck([reported, gone], 'deliver', {
    asked: CALM,
    meanwhile: () => decideRefund(gone),
  })

  expect(recorded).toMatchObject([{ role: 'noop' }])
})

test('a lock is cancelled once all of its swaps have failed, and not before', async () => {
  const [first, second] = [await newSwapAfter('lockRecorded'), await newSwapAfter('lockRecorded')]
  const oneFails = { asked: CALM, meanwhile: () => fail(first) }
  const allFail = { asked: CALM, meanwhile: () => fail(second) }

  const { recorded: before } = await replaceStuck([first, second], 'lock', oneFails)
  const { recorded: after } = await replaceStuck([first, second], 'lock', allFail)

  expect(before).toMatchObject([{ role: 'lock' }])
  expect(after).toMatchObject([{ role: 'noop' }])
})
