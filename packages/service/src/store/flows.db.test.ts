import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, settleTestSwap } from '../../test/support/swaps.ts'
import { readPaidOut, readTakenIn } from './figures.ts'

const database = useTestDatabase()

test('the flows of recent days are those of swaps delivered in them', async () => {
  const { pool } = database
  const account = await insertTestAccount(pool)
  const [earlier, later] = [await insertTestSwap(pool, account), await insertTestSwap(pool, account)]
  await insertTestSwap(pool, account)
  await settleTestSwap(pool, earlier)
  await settleTestSwap(pool, later)
  await pool.query(`update swap_events set at = at - interval '4 days' where swap_id = $1`, [earlier.swapId])

  const flows = { paidOut: await readPaidOut(pool, 3), takenIn: await readTakenIn(pool, 3) }

  expect(flows).toEqual({
    paidOut: [{ chainId: 31_338, token: 'output', amount: 990n }],
    takenIn: [{ chainId: 31_337, token: 'input', amount: 1_000n }],
  })
})
