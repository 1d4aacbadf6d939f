import { beforeAll, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, lockTestSwap, moveTestSwap, type TestSwap } from '../../test/support/swaps.ts'
import { findUnsent, insertAttestation } from './attestations.ts'
import { findToDeliver, findToLock, findToPropose } from './swaps.ts'

const database = useTestDatabase()
let crowd: TestSwap[]
let single: TestSwap

beforeAll(async () => {
  const [loud, quiet] = [await insertTestAccount(database.pool), await insertTestAccount(database.pool)]
  crowd = []
  for (let index = 0; index < 50; index += 1) crowd.push(await insertTestSwap(database.pool, loud))
  single = await insertTestSwap(database.pool, quiet)
})

const toLock = { chainId: 31337, locker: 'locker', limit: 4 }
const toDeliver = { chainId: 31338, limit: 4 }
const idsOf = (swaps: readonly { id: string }[]) => swaps.map(({ id }) => id)

/** The oldest of the crowd, then the only one of the other account, although the whole crowd is older. */
const inTurn = () => [crowd[0], single, crowd[1], crowd[2]].map((swap) => swap?.swapId)

test('a single swap behind fifty of another account is locked second', async () => {
  expect(idsOf(await findToLock(database.pool, toLock))).toEqual(inTurn())
})

test('an account’s swaps to an unavailable chain do not delay its swaps to another', async () => {
  const last = crowd.at(-1)?.swapId
  const send = (chainId: number) =>
    database.pool.query('update swaps set destination_chain = $2 where id = $1', [last, chainId])

  await send(31339)
  const found = await findToLock(database.pool, toLock)
  await send(31338)

  expect(idsOf(found)).toContain(last)
})

test('a single swap behind fifty of another account is delivered second', async () => {
  for (const swap of [...crowd, single]) {
    await lockTestSwap(database.pool, swap)
  }

  expect(idsOf(await findToDeliver(database.pool, toDeliver))).toEqual(inTurn())
})

test('claims of an unavailable chain do not delay the proposal of others', async () => {
  const { pool } = database
  const account = await insertTestAccount(pool)
  const waiting: TestSwap[] = []
  for (let index = 0; index < 201; index += 1) waiting.push(await insertTestSwap(pool, account))
  const other = waiting.at(-1)?.swapId
  await pool.query(
    `begin; set local session_replication_role = 'replica';
     update swaps set state = 'settled', origin_final = true, delivery_final = true where account_id = '${account}';
     update swaps set destination_chain = 31339 where id = '${other}'; commit`,
  )

  const found = await findToPropose(pool, { kind: 'claim', chainId: 31337 })

  expect(found).toHaveLength(200)
  expect(idsOf(found)).toContain(other)
})

test('blocked refunds come after payable ones, and each gets its turn', async () => {
  const { pool } = database
  const refund = async (isBlocked: boolean) => {
    const swap = await insertTestSwap(pool, single.accountId)
    await lockTestSwap(pool, swap)
    const decided = { refundReason: 'NO_LIQUIDITY', proof: {} } as const
    await moveTestSwap(pool, swap, 'deliveryImpossible', decided)
    if (isBlocked) await moveTestSwap(pool, swap, 'refundRefused')
    const attested = { swapIds: [swap.swapId], validUntil: 1 }
    await insertAttestation(pool, { chainId: 31337, kind: 'refund', ...attested })
    return swap.swapId
  }
  const blocked: string[] = []
  for (let index = 0; index < 30; index += 1) blocked.push(await refund(true))
  const payable = await refund(false)
  const look = async () =>
    (await findUnsent(pool, { chainId: 31337, of: 1, index: 0 })).flatMap((each) => each.swapIds)

  expect((await look())[0]).toBe(payable)
  const seen = new Set<string>()
  for (let looks = 0; looks < 100 && seen.size < blocked.length; looks += 1)
    for (const id of await look()) if (id !== payable) seen.add(id)
  expect(seen).toEqual(new Set(blocked))
})
