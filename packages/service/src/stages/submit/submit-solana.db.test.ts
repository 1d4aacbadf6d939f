import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { openLimits } from '../../../test/support/limits.ts'
import { stub } from '../../../test/support/stub.ts'
import { insertTestOp } from '../../../test/support/swaps.ts'
import type { InputBuilder } from '../../chains/chain.ts'
import { findSwaps } from '../../store/swaps.ts'
import type { Market } from '../../swap/catalog.ts'
import { submitSolana } from './submit-solana.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await startTestDatabase()
  await database.pool.query(
    `insert into inventory (chain_id, token, held, reserved, at_block) values (31338, 'output', 100000, 0, 1)`,
  )
})
afterAll(() => database.stop())

async function storeOp(): Promise<string> {
  const { pool } = database
  const opId = await insertTestOp(pool, await insertTestAccount(pool))
  await pool.query('update ops set wallet_balance = 100000 where id = $1', [opId])
  return opId
}

type Seen = { kind?: 'mismatch' | 'badSignature' | 'ok'; height?: bigint | undefined }

/** Submits a transaction that is valid up to height 100. */
function submit(opId: string, { kind = 'ok', ...seen }: Seen = {}) {
  const height = 'height' in seen ? seen.height : 100n
  const check: InputBuilder['check'] = async ({ signedTransaction }) =>
    kind === 'ok'
      ? ({ kind, signedTransaction: `checked ${signedTransaction}` } as never)
      : ({ kind } as never)
  const deps = {
    pool: database.pool,
    limits: openLimits,
    paidNow: () => undefined,
    market: stub<Market>({ chainNow: () => (height === undefined ? undefined : { height }) }),
    openInput: () => ({
      ...{ opId, chainId: 31_337, messageHash: 'hash', lastValid: '100' },
      expiresAt: Date.now() + 3_600_000,
    }),
    builderOf: () => ({ check }) as InputBuilder,
  }
  const caller = { accountId: 'acct', keyId: 'key', rules: {} }
  return submitSolana(deps, caller, { geoOpToken: 'token', signedTransaction: 'signed' })
}

test('the checked transaction is stored with its last valid height', async () => {
  const { swapId, status } = await submit(await storeOp())

  const [swap] = await findSwaps(database.pool, [swapId])
  expect(status).toBe('pending')
  expect(swap).toMatchObject({ signature: 'checked signed', lastValid: 100n })
})

test('a chain whose height is not known refuses nothing', async () => {
  expect((await submit(await storeOp(), { height: undefined })).status).toBe('pending')
})

test('410 OPERATION_EXPIRED answers once the chain has passed the last valid height', async () => {
  const opId = await storeOp()

  await expect(submit(opId, { height: 101n })).rejects.toMatchObject({ code: 'OPERATION_EXPIRED' })
})

test('422 TRANSACTION_MISMATCH answers another transaction than the built one', async () => {
  const opId = await storeOp()

  await expect(submit(opId, { kind: 'mismatch' })).rejects.toMatchObject({ code: 'TRANSACTION_MISMATCH' })
})

test('422 INVALID_SIGNATURE names the wallet that has to sign', async () => {
  const opId = await storeOp()

  await expect(submit(opId, { kind: 'badSignature' })).rejects.toMatchObject({
    code: 'INVALID_SIGNATURE',
    message: "The transaction is not signed by wallet. Sign unsignedTransaction with the wallet's key.",
  })
})
