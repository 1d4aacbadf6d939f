import { expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap } from '../../test/support/swaps.ts'
import type { Block, Heads, Sent } from '../chains/chain.ts'
import { tallyAttempts } from '../store/attempts.ts'
import { followAbandoned } from './record-outcomes.ts'

const CHAIN = 31_337
const block: Block = { number: 20n, height: 20n, hash: '0x20', seconds: 0 }
const heads: Heads = { head: block, settle: block, hard: block }

const database = useTestDatabase()

test('records outcomes for a key that is no longer configured, and leaves an active key to its own lane', async () => {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  const asked: string[] = []
  const chain = {
    chainId: CHAIN,
    async readOutcomes<T extends Sent>(sender: string, sent: readonly T[]) {
      asked.push(sender)
      return { nextNonce: 0, unmined: [], consumed: [], final: sender === 'dead' ? [...sent] : [] }
    },
  }
  for (const sender of ['dead', 'living', 'at work']) await insertTestAttempt(pool, swap, 'lock', { sender })

  await followAbandoned({ pool, chain, senders: ['at work'] }, heads)

  expect(asked.sort()).toEqual(['dead', 'living'])
  expect((await tallyAttempts(pool, 'lock', [swap.swapId], 20n)).get(swap.swapId)).toEqual({
    total: 3,
    open: 2,
  })
})
