import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEvmWorld } from '../../test/conformance/evm-world.ts'
import type { ConformanceWorld } from '../../test/conformance/world.ts'
import { startTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import type { Swap } from '../model/swap.ts'
import { declareLanes, takeLanes } from '../store/lanes.ts'
import { createSender } from './sender.ts'

let database: TestDatabase
let world: ConformanceWorld
beforeAll(async () => {
  ;[database, world] = await Promise.all([startTestDatabase(), startEvmWorld()])
})
afterAll(async () => {
  await Promise.all([database.stop(), world.stop()])
})

async function newSender(address: string) {
  const { pool } = database
  const name = `sender ${address} ${crypto.randomUUID()}`
  await declareLanes(pool, [name])
  const [lease] = await takeLanes(pool, {
    names: [name],
    holder: crypto.randomUUID(),
    ttlMs: 600_000,
    limit: 1,
  })
  if (!lease) throw new Error('No lane')
  const sender = createSender({
    pool,
    chain: world.chain,
    address,
    maxInFlight: 4,
    onSent: () => {},
    onSendFault: () => {},
    onRefused: () => {},
    onReplaced: () => {},
    isClaimable: () => true,
  })
  const followUp = async () => sender.followUp(lease, await world.chain.readHeads())
  await followUp()
  return { sender, lease, followUp }
}

const transferTo = (from: string, to: string, amount: bigint) =>
  world.chain.planTransfer({ from, to, token: world.tokens.native, amount })

test('a transaction above its fee bound is not signed', async () => {
  const { relay } = world.senders
  const { sender, lease } = await newSender(relay)
  const heads = await world.chain.readHeads()
  const { gasPrice } = await world.chain.readLegCosts(heads)
  const record = async () => {
    throw new Error('Unexpected call of record')
  }
  const request = await transferTo(relay, relay, 1n)

  expect(await sender.affords(heads, 10n * gasPrice)).toBe(true)
  expect(await sender.affords(heads, gasPrice)).toBe(false)
  expect(
    await sender.send(lease, heads, { role: 'topup', swapIds: [], request, record, feeBound: gasPrice }),
  ).toBe(false)
})

test('a transaction of a key that ran out of coins is not replaced, and lands once the key is funded', async () => {
  const { relay, deliver } = world.senders
  const recipient = privateKeyToAddress(generatePrivateKey())
  const { sender, lease, followUp } = await newSender(deliver)
  const other = await newSender(relay)
  const request = await transferTo(deliver, recipient, 1n)
  const refill = await transferTo(relay, deliver, 10n ** 17n)
  const heads = await world.chain.readHeads()
  const work = { role: 'topup', swapIds: [], record: async () => true } as const
  await world.emptyWallet({ op: { wallet: deliver, inputToken: world.tokens.native } } as Swap)

  await sender.send(lease, heads, { ...work, request })
  for (let look = 0; look < 12; look += 1) {
    await world.confirm()
    await followUp()
  }
  const { rowCount } = await database.pool.query('select 1 from tx_attempts where sender = $1', [deliver])
  await other.sender.send(other.lease, heads, { ...work, request: refill })
  await world.confirm()

  await expect
    .poll(
      async () => {
        await followUp()
        await world.confirm()
        return world.balanceOf(recipient, world.tokens.native)
      },
      { timeout: 10_000 },
    )
    .toBe(1n)
  expect(rowCount).toBe(1)
})

test('a nonce consumed at settle depth is recorded before it is final', async () => {
  const { relay } = world.senders
  const { sender, lease, followUp } = await newSender(relay)
  const { pool } = database
  const consumed = async () => {
    const { rows } = await pool.query<{ consumed: boolean; final: boolean }>(
      `select consumed_block is not null as consumed, final_at is not null as final
         from tx_attempts where sender = $1 order by id desc limit 1`,
      [relay],
    )
    return rows[0]
  }
  const request = await transferTo(relay, relay, 1n)
  const work = { role: 'topup', swapIds: [], record: async () => true } as const

  await sender.send(lease, await world.chain.readHeads(), { ...work, request })
  await followUp()
  const seen = [await consumed()]
  await world.confirm()
  await followUp()
  seen.push(await consumed())
  await world.finalize()
  await followUp()
  seen.push(await consumed())

  expect(seen).toEqual([
    { consumed: false, final: false },
    { consumed: true, final: false },
    { consumed: true, final: true },
  ])
})
