import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Chain, Heads } from '../chains/chain.ts'
import type { Attempt } from '../store/attempts.ts'
import { declareLanes, takeLanes } from '../store/lanes.ts'
import { insertTestAttempt } from '../store/test-attempts.ts'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../store/test-database.ts'
import { insertTestSwap } from '../store/test-swaps.ts'
import { createSender } from './sender.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await startTestDatabase()
})
afterAll(() => database.stop())

const request = { kind: 'test' }
const chain = {
  ...{ chainId: 31_337, hasNonces: true },
  readTerms: async () => ({}),
  readFates: async (_: string, open: Attempt[]) => ({ final: [], unmined: open, nextNonce: 0 }),
  planReplacement: () => ({ request, terms: {}, isBurn: false, cost: 0n }),
  readCoins: async () => 1n,
  sign: async () => ({ raw: '0xraised', txHash: '0xraised' }),
  broadcast: async () => {},
} as unknown as Chain

test('who replaces a transaction says which swaps it is for, and what it is called now', async () => {
  const { pool } = database
  const { swapId, accountId } = await insertTestSwap(pool, await insertTestAccount(pool))
  await insertTestAttempt(pool, { swapId, accountId }, 'lock', { sender: 'key' })
  await declareLanes(pool, ['lane'])
  const [lease] = await takeLanes(pool, {
    names: ['lane'],
    holder: crypto.randomUUID(),
    ttlMs: 60_000,
    limit: 1,
  })
  if (!lease) throw new Error('No lane')
  const said: unknown[] = []
  const sender = createSender({
    ...{ pool, chain, address: 'key', maxInFlight: 4, onSent: () => {}, onSendFault: () => {} },
    onReplaced: ({ swapIds, by }) => said.push({ swapIds, by }),
  })

  await sender.followUp(lease, { head: { number: 1n, hash: '0x' }, hard: { number: 1n } } as Heads)

  expect(said).toEqual([{ swapIds: [swapId], by: '0xraised' }])
})
