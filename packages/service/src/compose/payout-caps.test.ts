import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { stub } from '../../test/support/stub.ts'
import type { Heads } from '../chains/chain.ts'
import { type ConnectedChain, familyOf } from '../chains/families.ts'
import type { Catalog } from '../swap/catalog.ts'
import { payoutCapsOf } from './following.ts'

const heads = { head: { seconds: 3_600 } } as Heads
const tokens = ['SOL', 'USDC', 'GEO'].map((address) => ({ address, decimals: 2 }))
const catalog = stub<Catalog>({ chains: new Map([[1, { tokens }]]) })

function capsOf(family: 'evm' | 'solana', paid: Record<string, number> = {}) {
  const rows = Object.entries(paid).map(([token, amount]) => ({ token, paid: String(amount) }))
  const pool = stub<Pool>({ query: async () => ({ rows }) })
  const config = {
    family,
    chainId: 1,
    native: { capPerHour: '3' },
    tokens: [{ address: 'USDC', capPerHour: '0.5' }],
  }
  const connected = stub<ConnectedChain>({
    config,
    family: familyOf(config),
    nativeToken: { address: 'SOL', decimals: 2 },
  })
  return payoutCapsOf({ pool, catalog }, connected, { part: () => undefined })
}

const holdings = [
  { token: 'SOL', amount: 1_000n },
  { token: 'USDC', amount: 20n },
  { token: 'GEO', amount: 1_000n },
]
const limited = async (paid?: Record<string, number>) =>
  (await capsOf('solana', paid)?.limit(holdings, heads))?.map(({ amount }) => amount)

test('holdings count up to what their cap leaves in this hour, by default half of the inventory', async () => {
  expect(await limited()).toEqual([300n, 20n, 500n])
  expect(await limited({ SOL: 299, USDC: 40, GEO: 200 })).toEqual([1n, 10n, 400n])
  expect(await limited({ SOL: 301 })).toEqual([0n, 20n, 500n])
})

test('a contract keeps its own caps', () => {
  expect(capsOf('evm')).toBeUndefined()
})
