import { expect, test, vi } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import { stub } from '../../test/support/stub.ts'
import type { Heads } from '../chains/chain.ts'
import { readBooks } from '../store/books.ts'
import { createGasBook } from './books.ts'
import { topUpLowest } from './gas-watch.ts'
import type { Sender } from './sender.ts'

const database = useTestDatabase()
const lease = { name: 'topup', holder: '', fence: '0' }
const heads = { head: { number: 9n } } as Heads

type World = {
  room?: number
  /** Balances in the view of the chain. */
  seen?: Record<string, bigint>
  /** Balances that the chain shows. */
  coins: Record<string, bigint>
  chainId?: number
}

/** Keys that are low below 100 and filled up to 1000, on a chain where a lock costs 10. */
async function topUp({ room = 1, seen = {}, coins, chainId = 1 }: World) {
  const [asked, sent]: [string[], unknown[]] = [[], []]
  const sender = {
    address: 'float',
    room: () => room,
    send: async (_lease: unknown, _heads: unknown, { request }: { request: unknown }) =>
      sent.push(request) > 0,
  }
  const chain = {
    chainId,
    async readCoins(address: string) {
      asked.push(address)
      return coins[address] ?? 0n
    },
    async readLegCosts() {
      asked.push('costs')
      return { lock: 10n, firstLock: 10n, delivery: 10n, purchase: 10n, gasPrice: 1n }
    },
    planTransfer: async (transfer: object) => transfer as never,
  }
  const deps = {
    pool: database.pool,
    chain,
    sender: stub<Sender>(sender),
    nativeToken: 'coin',
    limits: { low: 100n, target: 1_000n, maxPerDay: 10_000n },
    keys: ['a', 'b'],
    balanceOf: (key: string) => seen[key],
  }
  await topUpLowest(deps, lease, heads)
  return { asked, sent }
}

const fill = (to: string, amount: bigint) => [{ from: 'float', to, token: 'coin', amount }]
const RICH = 100_000n

test('the key with the least is filled up, as the chain shows it', async () => {
  const coins = { a: 50n, b: 60n, float: RICH }

  expect((await topUp({ coins })).sent).toEqual(fill('a', 950n))
  expect((await topUp({ coins: { ...coins, b: 100n }, seen: { a: 50n, b: 100n } })).sent).toEqual(
    fill('a', 950n),
  )
})

test.each<[string, World, string[]]>([
  ['nothing, while a transaction is under way', { room: 0, coins: {} }, []],
  ['nothing, while the view shows enough', { seen: { a: 100n, b: 100n }, coins: {} }, []],
  ['only the keys, if the chain shows enough', { coins: { a: 100n, b: 100n } }, ['a', 'b']],
  ['everything, for a float that cannot pay', { coins: { float: 40n } }, ['a', 'b', 'float', 'costs']],
])('the chain is asked for %s', async (_, world, asked) => {
  expect(await topUp(world)).toEqual({ asked, sent: [] })
})

test('a float keeps what four locks cost', async () => {
  expect((await topUp({ coins: { b: 100n, float: 900n } })).sent).toEqual(fill('a', 860n))
})

test('a key whose top-up is under way is left out', async () => {
  await database.pool.query(
    `with sent as (
       insert into tx_attempts (chain_id, sender, nonce, role, tx_hash, raw, effect_hash, request, replacement)
       values (2, 'float', 0, 'topup', '0x', '0x', '0x', '{"sentAtBlock": "0"}', 0) returning id
     )
     insert into gas_topups (attempt_id, chain_id, address, amount) select id, 2, 'a', 950 from sent`,
  )

  const { asked, sent } = await topUp({ chainId: 2, coins: { a: 50n, b: 60n, float: RICH } })

  expect(asked).toEqual(['b', 'float', 'costs'])
  expect(sent).toEqual(fill('b', 940n))
})

test('gas is booked at the price of that time whenever balances fell, and later if there is no price', async () => {
  const { pool } = database
  const world: { balance?: bigint; price?: bigint | undefined } = {}
  const { step } = createGasBook({
    pool,
    chainId: 3,
    read: async () => (world.balance === undefined ? undefined : new Map([['key', world.balance]])),
    usdE6Of: (amount) => world.price && amount * world.price,
  })
  const look = async (change: typeof world) => {
    Object.assign(world, change)
    await step(lease, () => {})
    return (await readBooks(pool, { days: 2 })).gas.map(({ amount, usdE6 }) => [amount, usdE6])
  }

  expect(await look({ price: 2n })).toEqual([])
  expect(await look({ balance: 100n })).toEqual([])
  expect(await look({ balance: 70n })).toEqual([[30n, 60n]])
  expect(await look({ balance: 50n, price: undefined })).toEqual([[30n, 60n]])
  expect(await look({ price: 3n })).toEqual([[50n, 120n]])
  const query = vi.spyOn(pool, 'query')
  await step(lease, () => {})
  expect(query).not.toHaveBeenCalled()
  query.mockRestore()
})
