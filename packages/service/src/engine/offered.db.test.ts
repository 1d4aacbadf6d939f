import { expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { holdTestLane } from '../../test/support/lanes.ts'
import { stub } from '../../test/support/stub.ts'
import {
  insertTestSwap,
  lockTestSwap,
  moveTestSwap,
  settleTestSwap,
  type TestSwap,
} from '../../test/support/swaps.ts'
import type { Chain, Heads } from '../chains/chain.ts'
import { offerReplacements } from '../chains/evm/fees.ts'
import type { Attempt } from '../store/attempts.ts'
import { createSender } from './sender.ts'

const database = useTestDatabase()

const heads = { head: { number: 9n, hash: '0x' }, hard: { number: 1n } } as Heads
const FEES = { maxFeePerGas: '100', maxPriorityFeePerGas: '1' }

/** A chain that includes no transaction, and records the broadcasts. */
function newChain({ hasNonces }: { hasNonces: boolean }) {
  const offered: string[] = []
  const chain = stub<Chain>({
    ...{ chainId: 31_337, hasNonces, offerReplacements: hasNonces ? offerReplacements : undefined },
    fits: () => true,
    readTerms: async () => FEES,
    isSignedFor: async () => true,
    readOutcomes: async (_: string, open: Attempt[]) => ({
      final: [],
      consumed: [],
      unmined: open,
      nextNonce: 0,
    }),
    readCoins: async () => 10n ** 18n,
    sign: async () => ({ raw: 'replacement', txHash: crypto.randomUUID() }),
    broadcast: async (raw: string) => void offered.push(raw),
  })
  return { chain, offered }
}

async function newDelivering(): Promise<TestSwap> {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await lockTestSwap(pool, swap)
  await moveTestSwap(pool, swap, 'deliveryRecorded', { deliveryTxHash: '0xdelivery' })
  return swap
}

async function newSettled(): Promise<TestSwap> {
  const swap = await insertTestSwap(database.pool, await insertTestAccount(database.pool))
  await settleTestSwap(database.pool, swap)
  return swap
}

type Look = {
  hasNonces?: boolean
  /** Undefined while the time of the origin is unknown. */
  isClaimable?: boolean | undefined
  sentAtBlock?: bigint
  meanwhile?(): Promise<unknown>
}

/** Records a delivery of these swaps as sent. */
async function insertDelivery(
  [swap, ...batched]: readonly TestSwap[],
  as: { sender: string; nonce: number; sentAtBlock: bigint },
): Promise<void> {
  const { pool } = database
  if (!swap) throw new Error('No swap to deliver')
  const id = await insertTestAttempt(pool, swap, 'deliver')
  for (const { swapId } of batched)
    await pool.query('insert into attempt_swaps values ($1, $2, $3)', [id, swapId, 'deliver'])
  const request = { request: { gas: 1, data: '0x' }, terms: FEES, sentAtBlock: as.sentAtBlock.toString() }
  await pool.query(
    `update tx_attempts set raw = 'delivery', sender = $2, nonce = $3, request = $4 where id = $1`,
    [id, as.sender, as.nonce, request],
  )
}

/** Returns the broadcasts of a worker that finds these deliveries recorded, and the number of deliveries it cancels. */
async function offersOf(deliveries: readonly (readonly TestSwap[])[], look: Look = {}) {
  const { hasNonces = false, sentAtBlock = heads.head.number, meanwhile = async () => {} } = look
  const isClaimable = 'isClaimable' in look ? look.isClaimable : true
  const { pool } = database
  const sender = `key ${crypto.randomUUID()}`
  for (const [nonce, swaps] of deliveries.entries())
    await insertDelivery(swaps, { sender, nonce, sentAtBlock })
  await meanwhile()
  const { chain, offered } = newChain({ hasNonces })
  await createSender({
    pool,
    chain,
    address: sender,
    maxInFlight: 4,
    isClaimable: () => isClaimable,
    events: { onSent() {}, onSendFault() {}, onRefused() {}, onReplaced() {} },
  }).followUp(await holdTestLane(database, sender), heads)
  const { rows } = await pool.query(
    `select 1 from tx_attempts where sender = $1 and role = 'noop' and replacement = 1`,
    [sender],
  )
  return { offered, burns: rows.length }
}

const refund = (swap: TestSwap) =>
  moveTestSwap(database.pool, swap, 'refundFinal', { refundReason: 'DELIVERY_EXPIRED' })
const decideRefund = (swap: TestSwap) =>
  moveTestSwap(database.pool, swap, 'deliveryImpossible', { refundReason: 'DELIVERY_EXPIRED', proof: {} })
const fail = (swap: TestSwap) =>
  moveTestSwap(database.pool, swap, 'lockDead', { failureCode: 'OPERATION_EXPIRED', proof: {} })

test('an unmined delivery is broadcast again', async () => {
  expect(await offersOf([[await newDelivering()]])).toEqual({ offered: ['delivery'], burns: 0 })
})

test.each([
  ['was refunded', refund],
  ['is to be refunded', decideRefund],
  ['can never be locked', fail],
])('a delivery is not broadcast again once the input %s', async (_, end) => {
  const swap = await newDelivering()

  const found = await offersOf([[swap]], { meanwhile: () => end(swap) })

  expect(found).toEqual({ offered: [], burns: 0 })
})

test('a delivery of several swaps is not broadcast again once one input was refunded', async () => {
  const [kept, gone] = [await newDelivering(), await newDelivering()]

  const found = await offersOf([[kept, gone]], { meanwhile: () => refund(gone) })

  expect(found).toEqual({ offered: [], burns: 0 })
})

test('an unwanted delivery with a nonce is replaced by a no-op at once, wherever it is in the queue', async () => {
  const swaps = [await newDelivering(), await newDelivering(), await newDelivering()] as const
  const [, kept] = swaps
  const meanwhile = async () => {
    for (const swap of swaps) if (swap !== kept) await refund(swap)
  }

  const found = await offersOf([[swaps[0]], [kept], [swaps[2]]], { hasNonces: true, meanwhile })

  expect(found).toEqual({ offered: ['delivery', 'replacement', 'replacement'], burns: 2 })
})

test('a delivery is not broadcast again when its input could be refunded before it is claimed', async () => {
  const late = { isClaimable: false }

  expect(await offersOf([[await newDelivering()]], late)).toEqual({ offered: [], burns: 0 })
  expect(await offersOf([[await newDelivering()]], { ...late, hasNonces: true })).toEqual({
    offered: ['replacement'],
    burns: 1,
  })
})

test('a delivery is neither broadcast nor cancelled while the time of its origin is unknown', async () => {
  const unknown = { isClaimable: undefined, hasNonces: true, sentAtBlock: 0n }

  expect(await offersOf([[await newDelivering()]], unknown)).toEqual({ offered: [], burns: 0 })
})

test('a reported delivery is broadcast again, however late it is', async () => {
  const found = await offersOf([[await newSettled()]], { isClaimable: false })

  expect(found).toEqual({ offered: ['delivery'], burns: 0 })
})
