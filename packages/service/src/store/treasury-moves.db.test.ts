import { beforeAll, expect, test } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import { readInventory, setHoldings } from './inventory.ts'
import {
  beginWithdrawal,
  endMove,
  findOpenMoves,
  findWithdrawalTxs,
  type Move,
  readFree,
  recordMoveTx,
} from './treasury-moves.ts'

const database = useTestDatabase()
beforeAll(async () => {
  await setHoldings(database.pool, { chainId: 1, block: 1n }, [{ token: 'USDC', amount: 100n }])
})

const move = (once: string, amount: bigint): Move => ({
  chainId: 1,
  sender: '0xt',
  once,
  kind: 'withdraw',
  token: 'USDC',
  recipient: '0xr',
  amount,
})
const reserved = async () => (await readInventory(database.pool))[0]?.reserved

test('of concurrent withdrawals, only those start that the vault can pay together', async () => {
  const { pool } = database
  const began = await Promise.all(['1', '2', '3'].map((once) => beginWithdrawal(pool, move(once, 40n), 100n)))

  expect(began.filter(Boolean)).toHaveLength(2)
  expect({ reserved: await reserved(), free: await readFree(pool, move('4', 1n), 100n) }).toEqual({
    reserved: 80n,
    free: 20n,
  })
  expect(await findOpenMoves(pool)).toHaveLength(2)
})

test('a reservation is released once, and signed transactions are known as withdrawals', async () => {
  const { pool } = database
  const [open] = await findOpenMoves(pool)
  if (!open) throw new Error('Nothing is open')

  await recordMoveTx(pool, open, '0xa')
  await recordMoveTx(pool, open, '0xb')
  await endMove(pool, open, 'landed')
  await endMove(pool, open, 'failed')

  expect(await reserved()).toBe(40n)
  expect(await findWithdrawalTxs(pool, 1, ['0xa', '0xc'])).toEqual(new Set(['0xa']))
})
