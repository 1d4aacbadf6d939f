import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EvmConformanceWorld, startEvmWorld } from '../../test/conformance/evm-world.ts'
import { startTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { declareLanes, takeLanes } from '../store/lanes.ts'
import type { Swap } from '../swap/swap.ts'
import { createSender } from './sender.ts'

let database: TestDatabase
let world: EvmConformanceWorld
beforeAll(async () => {
  ;[database, world] = await Promise.all([startTestDatabase(), startEvmWorld()])
})
afterAll(async () => {
  await Promise.all([database.stop(), world.stop()])
})

async function newSender(address: string, sign = world.chain.sign) {
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
    chain: { ...world.chain, sign },
    address,
    maxInFlight: 4,
    events: { onSent() {}, onSendFault() {}, onRefused() {}, onReplaced() {} },
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

test('a key whose signer fails records nothing, and then signs the same nonce again', async () => {
  const { relay } = world.senders
  const nonces: (number | undefined)[] = []
  const sign: typeof world.chain.sign = async (request, as) => {
    nonces.push(as.nonce)
    if (nonces.length === 1) throw new Error('The signer is away')
    return world.chain.sign(request, as)
  }
  const { sender, lease } = await newSender(relay, sign)
  const heads = await world.chain.readHeads()
  const work = { role: 'topup', swapIds: [], record: async () => true } as const
  const request = await transferTo(relay, relay, 1n)
  const countAttempts = async () =>
    (await database.pool.query('select 1 from tx_attempts where sender = $1', [relay])).rowCount
  const before = await countAttempts()

  await expect(sender.send(lease, heads, { ...work, request })).rejects.toThrow('The signer is away')
  const between = await countAttempts()
  await sender.send(lease, heads, { ...work, request })

  expect(between).toBe(before)
  expect(nonces[1]).toBe(nonces[0])
  expect(await countAttempts()).toBe((before ?? 0) + 1)
})

test('while a signer is slow no database transaction waits, and a lane lost meanwhile sends nothing', async () => {
  const { relay } = world.senders
  const { pool } = database
  let waiting = 0
  const sign: typeof world.chain.sign = async (request, as) => {
    const { rows } = await pool.query(
      "select count(*)::int as open from pg_stat_activity where state = 'idle in transaction'",
    )
    waiting += rows[0].open
    await pool.query("update lanes set expires_at = '-infinity' where name = $1", [lease.name])
    return world.chain.sign(request, as)
  }
  const { sender, lease } = await newSender(relay, sign)
  const request = await transferTo(relay, relay, 1n)
  const work = { role: 'topup', swapIds: [], record: async () => true } as const

  const isSent = await sender.send(lease, await world.chain.readHeads(), { ...work, request })

  expect(isSent).toBe(false)
  expect(waiting).toBe(0)
})

test('transactions of one key take turns, each with a nonce of its own', async () => {
  const { relay } = world.senders
  const nonces: (number | undefined)[] = []
  const sign: typeof world.chain.sign = (request, as) => {
    nonces.push(as.nonce)
    return world.chain.sign(request, as)
  }
  const { sender, lease } = await newSender(relay, sign)
  const heads = await world.chain.readHeads()
  const request = await transferTo(relay, relay, 1n)
  const send = () =>
    sender.send(lease, heads, { role: 'topup', swapIds: [], record: async () => true, request })

  expect(await Promise.all([send(), send(), send()])).toEqual([true, true, true])
  expect(new Set(nonces).size).toBe(3)
  expect(nonces).toHaveLength(3)
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

test('transactions behind a nonce that a reorg took from another user of the key are mined', async () => {
  const { relay } = world.senders
  const recipient = privateKeyToAddress(generatePrivateKey())
  const { sender, lease, followUp } = await newSender(relay)
  const { chain } = world
  const heads = await chain.readHeads()
  const undo = await world.remember()
  const { nextNonce: nonce } = await chain.readOutcomes(relay, [], heads)
  const foreign = { sender: relay, nonce, terms: await chain.readTerms(heads) }
  await chain.broadcast((await chain.sign(await transferTo(relay, relay, 1n), foreign)).raw)
  await world.confirm()
  // A new process reads the nonce.
  await (await newSender(relay)).followUp()
  const request = await transferTo(relay, recipient, 1n)
  await sender.send(lease, heads, { role: 'topup', swapIds: [], record: async () => true, request })

  await undo()

  await expect
    .poll(
      async () => {
        await world.confirm()
        await followUp()
        return world.balanceOf(recipient, world.tokens.native)
      },
      { timeout: 20_000 },
    )
    .toBe(1n)
})
