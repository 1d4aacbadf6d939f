import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEvmWorld } from '../../test/conformance/evm-world.ts'
import { startSolanaConformanceWorld } from '../../test/conformance/solana-world.ts'
import type { ConformanceWorld } from '../../test/conformance/world.ts'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { holdTestLane } from '../../test/support/lanes.ts'
import { insertTestSwap } from '../../test/support/swaps.ts'
import type { TxCost } from '../chains/chain.ts'
import { findWasted } from '../store/gas.ts'
import type { Swap } from '../swap/swap.ts'
import { createWasteReader } from './books.ts'
import { createSender } from './sender.ts'

let database: TestDatabase
let world: ConformanceWorld
let solana: ConformanceWorld
beforeAll(async () => {
  const worlds = [startTestDatabase(), startEvmWorld(), startSolanaConformanceWorld()] as const
  ;[database, world, solana] = await Promise.all(worlds)
})
afterAll(async () => {
  await Promise.all([database.stop(), world.stop(), solana.stop()])
})

// Ten dollars for a gas coin of 18 decimals.
const usdE6Of = (amount: bigint) => (amount * 10_000_000n) / 10n ** 18n

/** Stores a swap of the chain, of a wallet of its own. */
async function store(swap: Swap, accountId: string) {
  const { pool } = database
  const { swapId } = await insertTestSwap(pool, accountId, swap.op.wallet)
  const { rows } = await pool.query<{ id: string }>(
    'update ops o set hash = $2 from swaps s where s.op_id = o.id and s.id = $1 returning o.id',
    [swapId, swap.op.hash],
  )
  return { swapId, opId: rows[0]?.id ?? '' }
}

type ReadCost = (txHash: string) => Promise<TxCost | undefined>

/** A key that sends locks of these swaps in one transaction, and follows it up. */
async function lockerOf(
  swaps: readonly Swap[],
  { on = world, readCost = on.chain.readCost as ReadCost, toUsdE6 = usdE6Of } = {},
) {
  const { pool } = database
  const { relay } = on.senders
  const lease = await holdTestLane(database, `relay ${crypto.randomUUID()}`)
  const chain = { ...on.chain, readCost }
  const sender = createSender({
    pool,
    chain,
    address: relay,
    maxInFlight: 4,
    isClaimable: () => true,
    readWasted: createWasteReader({ pool, chain, usdE6Of: toUsdE6 }),
    events: { onSent() {}, onSendFault() {}, onRefused() {}, onReplaced() {} },
  })
  const followUp = async () => sender.followUp(lease, await on.chain.readHeads())
  await followUp()
  const accountId = await insertTestAccount(pool)
  const stored = await Promise.all(swaps.map((swap) => store(swap, accountId)))
  const heads = await on.chain.readHeads()
  await sender.send(lease, heads, {
    role: 'lock',
    request: await on.chain.planLock(swaps),
    swapIds: stored.map(({ swapId }) => swapId),
    record: async () => true,
  })
  return { followUp, stored, accountId }
}

const wastedBy = async (swapIds: readonly string[]) => {
  const { rows } = await database.pool.query<{ swap_id: string; fee: string; tx_hash: string }>(
    `select w.swap_id, w.fee, a.tx_hash from wasted_gas w join tx_attempts a on a.id = w.attempt_id
      where w.swap_id = any($1)`,
    [swapIds],
  )
  return rows
}

test('a lock of a wallet that moved its input is charged once, with the fee of its receipt', async () => {
  const swap = await world.newSwap()
  const { followUp, stored, accountId } = await lockerOf([swap])
  await world.emptyWallet(swap)

  await world.confirm()
  await followUp()
  const seen = await findWasted(database.pool, [stored[0]?.opId ?? ''])
  await world.finalize()
  await followUp()

  const [row, ...more] = await wastedBy(stored.map(({ swapId }) => swapId))
  const cost = await world.chain.readCost?.(row?.tx_hash ?? '')
  expect([row?.fee, more]).toEqual([cost?.fee.toString(), []])
  expect(cost?.fee).toBeGreaterThan(0n)
  const usdE6 = usdE6Of(cost?.fee ?? 0n)
  expect([...seen.values()]).toEqual([{ wallet: usdE6, account: usdE6, chain: usdE6, isKnown: false }])
  const { rows } = await database.pool.query('select scope, usd_e6 from wasted_hours where id = any($1)', [
    [swap.op.wallet, accountId],
  ])
  expect(rows.map(({ usd_e6 }) => BigInt(usd_e6))).toEqual([usdE6, usdE6])
})

test('a failed lock on Solana is charged to its wallet and account', async () => {
  const swap = await solana.newSwap()
  await solana.emptyWallet(swap)
  const { followUp, stored } = await lockerOf([swap], { on: solana, toUsdE6: (lamports: bigint) => lamports })

  await solana.confirm()
  await solana.finalize()
  await followUp()

  const [row, ...more] = await wastedBy(stored.map(({ swapId }) => swapId))
  const cost = await solana.chain.readCost?.(row?.tx_hash ?? '')
  expect([row?.fee, more]).toEqual([cost?.fee.toString(), []])
  const [seen] = (await findWasted(database.pool, [stored[0]?.opId ?? ''])).values()
  expect(seen).toMatchObject({ wallet: cost?.fee, account: cost?.fee })
  expect(cost?.fee).toBeGreaterThan(0n)
})

test('of a batch only the input that was not taken is charged, with its part', async () => {
  const { delegation: _, ...undelegated } = await world.newSwap()
  const { followUp, stored } = await lockerOf([await world.newSwap(), undelegated])

  await world.confirm()
  await followUp()

  const [row, ...more] = await wastedBy(stored.map(({ swapId }) => swapId))
  const cost = await world.chain.readCost?.(row?.tx_hash ?? '')
  expect([row?.swap_id, more]).toEqual([stored[1]?.swapId, []])
  expect(row?.fee).toBe(((cost?.fee ?? 0n) / 2n).toString())
})

test('a lock that took its input is not charged, though its event is not stored', async () => {
  const { followUp, stored } = await lockerOf([await world.newSwap()])

  await world.confirm()
  await followUp()

  expect(await wastedBy(stored.map(({ swapId }) => swapId))).toEqual([])
})

test('a receipt that no node gives holds nothing up, and is charged when the nonce is final', async () => {
  const swap = await world.newSwap()
  let isSilent = true
  const { followUp, stored } = await lockerOf([swap], {
    async readCost(txHash) {
      if (isSilent) throw new Error('silent')
      return world.chain.readCost?.(txHash)
    },
  })
  await world.emptyWallet(swap)
  await world.confirm()

  expect(await followUp()).toBe(true)
  expect(await wastedBy(stored.map(({ swapId }) => swapId))).toEqual([])
  isSilent = false
  await world.finalize()
  await followUp()

  expect(await wastedBy(stored.map(({ swapId }) => swapId))).toHaveLength(1)
})
