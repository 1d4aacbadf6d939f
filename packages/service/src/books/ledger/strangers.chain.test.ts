import type { EscrowOp } from '@geoswap/protocol'
import { type Address, erc20Abi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useTestDatabase } from '../../../test/support/database.ts'
import { startStrangersWorld } from '../../../test/support/strangers.ts'
import { readLedgerBalances } from '../../store/ledger.ts'
import { findActiveStops } from '../../store/stops.ts'
import { createBookkeeper, type Stopped } from './bookkeeper.ts'

const database = useTestDatabase()
const world = await startStrangersWorld()
afterAll(() => world.stop())
const { client, chain, chainId, connected, escrow, token } = world
const stranger = privateKeyToAccount(generatePrivateKey())
const stopped: Stopped[] = []
let book: ReturnType<typeof createBookkeeper>
let round = 0n

/** As many readings as a difference needs to count. */
async function read(): Promise<void> {
  for (let i = 0; i < 4; i += 1) {
    await client.mine({ blocks: 1 })
    const { hard } = await chain.readHeads()
    await book(() => hard)
  }
}

/** An op of the stranger's own, who is its locker as well. */
async function opOf(terms: Partial<EscrowOp> = {}) {
  const now = await world.nowSeconds()
  round += 1n
  const deadlines = { opDeadline: now + 1_000n, refundDeadline: now + 2_000n }
  return world.opBy(stranger.address, stranger.address, {
    index: (1n << 32n) + round,
    ...deadlines,
    ...terms,
  })
}

async function lockOwn(terms: Partial<EscrowOp> = {}): Promise<EscrowOp> {
  const { op, address } = await opOf(terms)
  const { target, data } = world.mint(address, op.inputAmount)
  await world.send(stranger.address, { to: target, data })
  await world.send(stranger.address, { to: escrow, data: world.lockDeposited(op).data })
  return op
}

async function bookedOf(of: Address = token) {
  const all = await readLedgerBalances(database.pool, chainId)
  return Object.fromEntries(
    all.filter((each) => each.token === of).map((each) => [each.account, each.amount]),
  )
}

const stops = () => findActiveStops(database.pool)

beforeAll(async () => {
  book = createBookkeeper({
    pool: database.pool,
    chain: connected.custody,
    assetOf: () => 'USD',
    onDrift: (stop) => stopped.push(stop),
    onMended: () => {},
  })
  await read()
})

test('an input that a stranger locks, and has refunded through a contract, is balance and stops nothing', async () => {
  const op = await lockOwn()
  await read()
  expect(await bookedOf()).toMatchObject({ spare: 100n })

  await client.setNextBlockTimestamp({ timestamp: op.refundDeadline + 1n })
  await world.run(stranger.address, [world.refund(op)])
  await read()

  expect(
    await client.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [escrow] }),
  ).toBe(0n)
  expect(await bookedOf()).not.toHaveProperty('locked')
  expect([stopped, await stops()]).toEqual([[], []])
})

test('an input of nothing is no movement', async () => {
  await lockOwn({ inputAmount: 0n })
  const before = await bookedOf()

  await read()

  expect(await bookedOf()).toEqual(before)
})

test('a lock whose calldata repeats one entry 900 times is balance, and the books go on', async () => {
  const before = await bookedOf()

  const { op, hash } = await opOf()
  await world.lockBehindPointers(stranger, { op, hash }, 900)
  await read()

  expect((await bookedOf()).spare).toBe((before.spare ?? 0n) + 100n)
  expect(stopped).toEqual([])
})
