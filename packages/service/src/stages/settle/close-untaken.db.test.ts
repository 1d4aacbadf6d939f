import { beforeEach, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { insertTestSwap, moveTestSwap } from '../../../test/support/swaps.ts'
import type { Heads, LockRef } from '../../chains/chain.ts'
import type { Work } from '../../engine/sender.ts'
import { type CloseDeps, closeUntaken } from './close-untaken.ts'

const CHAIN = 31_337
const DEADLINE = 500_000
const lease = { name: 'relay', holder: 'holder', fence: '1' }

const database = useTestDatabase()
beforeEach(() => database.pool.query('truncate swaps, ops, accounts cascade'))

const headsAt = (seconds: number): Heads => {
  const block = { number: 1n, height: 1n, hash: '0x1', seconds }
  return { head: block, settle: block, hard: block }
}

/** A swap by payment, failed unless it is still open. */
async function paid({ isOpen = false, method = 'payment', deadline = DEADLINE } = {}): Promise<string> {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  if (!isOpen) await moveTestSwap(pool, swap, 'declined', { failureCode: 'PRICE_MOVED', proof: {} })
  const { rows } = await pool.query(
    `update ops set method = $2, origin_chain = $3, op_deadline = 1, refund_deadline = $4 from swaps s
      where s.op_id = ops.id and s.id = $1 returning hash`,
    [swap.swapId, method, CHAIN, deadline],
  )
  return rows[0].hash
}

/** A chain on which these accounts are open. */
function chainWith(open: readonly string[], { room = 16, odd = '' } = {}) {
  const closed: unknown[] = []
  const deps: CloseDeps = {
    ...{ pool: database.pool, chainId: CHAIN, tries: new Map() },
    closing: {
      async isClosable({ hash }: LockRef) {
        if (hash === odd) throw new Error('This account cannot be read')
        return open.includes(hash)
      },
      planClose: ({ hash }) => ({ hash }),
    },
    sender: {
      address: 'payer',
      room: () => room,
      async send(_lease: unknown, _heads: unknown, { request }: Work) {
        closed.push(request['hash'])
        return true
      },
    },
  }
  return { deps, closed }
}

test('the account of a payment that was not taken is closed once anyone may refund it', async () => {
  const [hash] = [await paid(), await paid()]
  const { deps, closed } = chainWith([hash])

  await closeUntaken(deps, lease, headsAt(DEADLINE))
  expect(closed).toEqual([])
  await closeUntaken(deps, lease, headsAt(DEADLINE + 1))

  expect(closed).toEqual([hash])
})

test('accounts of open swaps and of other ways are left, and those with a deadline two days ago', async () => {
  const hashes = [
    await paid({ isOpen: true }),
    await paid({ method: 'deposit' }),
    await paid({ deadline: 9 }),
  ]
  const { deps, closed } = chainWith(hashes)

  await closeUntaken(deps, lease, headsAt(DEADLINE + 1))

  expect(closed).toEqual([])
})

test('an account that cannot be read stops no other', async () => {
  const [odd, ...others] = [await paid(), await paid(), await paid()]
  const { deps, closed } = chainWith(others, { odd })

  await expect(closeUntaken(deps, lease, headsAt(DEADLINE + 1))).rejects.toThrow('cannot be read')

  expect(closed.sort()).toEqual(others.sort())
})

test('a key without room closes nothing, and at most five at once otherwise', async () => {
  const hashes = await Promise.all(Array.from({ length: 7 }, () => paid()))
  const [full, free] = [chainWith(hashes, { room: 0 }), chainWith(hashes)]

  await closeUntaken(full.deps, lease, headsAt(DEADLINE + 1))
  await closeUntaken(free.deps, lease, headsAt(DEADLINE + 1))

  expect([full.closed.length, free.closed.length]).toEqual([0, 5])
})

test('accounts whose wallets refuse the refund are tried three times, and keep no others open', async () => {
  const stubborn: string[] = []
  for (let index = 0; index < 5; index += 1) stubborn.push(await paid())
  const last = await paid({ deadline: DEADLINE + 1 })
  const { deps, closed } = chainWith([...stubborn, last])

  for (let look = 0; look < 6; look += 1) await closeUntaken(deps, lease, headsAt(DEADLINE + 2))

  expect(closed.filter((hash) => hash === last)).toHaveLength(3)
  for (const hash of stubborn) expect(closed.filter((each) => each === hash)).toHaveLength(3)
})
