import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { useTestDatabase } from '../../../test/support/database.ts'
import { startStrangersWorld } from '../../../test/support/strangers.ts'
import { stub } from '../../../test/support/stub.ts'
import type { RebuildDeps } from './facts.ts'
import { rebuild } from './rebuild.ts'

const database = useTestDatabase()
const world = await startStrangersWorld()
afterAll(() => world.stop())
const { chain, chainId, connected, relayer } = world
const stranger = privateKeyToAccount(generatePrivateKey())

async function run() {
  const said: string[] = []
  const deps = {
    pool: database.pool,
    chains: [
      {
        ...{ chain, custody: connected.custody, recovery: connected.recovery },
        ...{ readClaimed: async () => [], senders: [relayer] },
      },
    ],
    isLogLost: false,
    firstBlocks: new Map([[chainId, 0n]]),
    latestDeadlines: () => ({ opDeadline: 0, fillDeadline: 0, refundDeadline: 0 }),
    venueOf: () => undefined,
    newSwapId: () => 'swp_recovered',
    custodyOf: () => ({ escrow: world.escrow, vault: world.escrow }),
    wait: () => world.client.mine({ blocks: 1 }),
    deadlines: { opLifeSeconds: 1, depositSeconds: 1, lockInclusionSeconds: 1 },
    finalityOf: () => ({ originSeconds: 1, destinationSeconds: 1 }),
    say: (line: string) => void said.push(line),
  }
  return { summary: await rebuild(stub<RebuildDeps>(deps)), said }
}

test('inputs that strangers locked, in whatever form, are no swaps of a rebuilt database', async () => {
  const now = await world.nowSeconds()
  const deadlines = { opDeadline: now + 1_000n, refundDeadline: now + 2_000n }
  const theirs = world.opBy(stranger.address, stranger.address, { ...deadlines, index: 1n << 32n })
  const plain = world.opBy(stranger.address, stranger.address, { ...deadlines, index: (1n << 32n) + 1n })
  await world.lockBehindPointers(stranger, theirs, 900)
  await world.run(stranger.address, [world.mint(plain.address, plain.op.inputAmount)])
  await world.send(stranger.address, { to: world.escrow, data: world.lockDeposited(plain.op).data })
  await world.client.mine({ blocks: 2 })

  const { summary, said } = await run()

  expect(summary).toMatchObject({ recovered: 0, orphans: 0, unreadable: [] })
  expect(said).toContain('2 inputs were left out: no configured key locked them')
})

test('a lock by our own key that the database lost comes back, and one that nobody can read is named', async () => {
  const now = await world.nowSeconds()
  const deadlines = { opDeadline: now + 1_000n, refundDeadline: now + 2_000n }
  const ours = world.opBy(relayer, stranger.address, { ...deadlines, index: 1n << 32n })
  const odd = world.opBy(relayer, stranger.address, { ...deadlines, index: (1n << 32n) + 1n })
  await world.run(stranger.address, [world.mint(ours.address, ours.op.inputAmount)])
  await world.send(relayer, { to: world.escrow, data: world.lockDeposited(ours.op).data })
  const unreadable = await world.lockBehindPointers(stranger, odd, 900)
  await world.client.mine({ blocks: 2 })

  expect((await run()).summary).toMatchObject({ recovered: 1, orphans: 1, unreadable: [unreadable] })
})
