import { expect, test } from 'vitest'
import type { Sending, Simulation } from '../../chains/chain.ts'
import type { Op } from '../../swap/swap.ts'
import { simulateOnce } from './judge.ts'

const DELIVERER = { sender: '0xd', terms: {} }
const op = { hash: '0x1', outputToken: 'usdc', payToken: 'usdc', quotedOutput: 100n } as Op

type World = { holding: bigint | undefined; kind: Simulation['kind'] }

/** A destination that counts its simulations, with a clock that the test sets. */
function createDestination({ holding, kind }: World = { holding: 1_000n, kind: 'ok' }) {
  const world = { simulated: 0, ms: 0 }
  const chain = {
    async simulateDelivery(_op: Op, _as?: Sending): Promise<Simulation> {
      world.simulated += 1
      return { kind }
    },
  }
  const { simulateDelivery } = simulateOnce(chain, {
    holdingOf: () => holding,
    strangeToken: 'coin',
    now: () => world.ms,
  })
  return { world, simulateDelivery }
}

test('a delivery that was simulated before its lock is not simulated again', async () => {
  const { world, simulateDelivery } = createDestination()

  await simulateDelivery(op)

  expect(await simulateDelivery(op, DELIVERER)).toEqual({ kind: 'ok' })
  expect(world.simulated).toBe(1)
})

test('each further try to deliver is simulated', async () => {
  const { world, simulateDelivery } = createDestination()

  await simulateDelivery(op)
  for (const _ of [1, 2, 3]) await simulateDelivery(op, DELIVERER)

  expect(world.simulated).toBe(3)
})

test('each look at a waiting lock is simulated', async () => {
  const { world, simulateDelivery } = createDestination()

  for (const _ of [1, 2]) await simulateDelivery(op)

  expect(world.simulated).toBe(2)
})

test.each<[string, number, number]>([
  ['just within the memory', 29_999, 1],
  ['after the memory', 30_000, 2],
])('a delivery %s costs this many simulations', async (_, ms, simulated) => {
  const { world, simulateDelivery } = createDestination()

  await simulateDelivery(op)
  world.ms = ms
  await simulateDelivery({ ...op, hash: '0x2' })
  await simulateDelivery(op, DELIVERER)

  expect(world.simulated).toBe(simulated + 1)
})

test.each<[string, Partial<Op>, World['holding'], World['kind']]>([
  ['that buys its output', { payToken: 'weth' }, 1_000n, 'ok'],
  ['that takes more than a tenth of the holdings', {}, 999n, 'ok'],
  ['that runs code of its recipient', { outputToken: 'coin', payToken: 'coin' }, 1_000n, 'ok'],
  ['whose holdings are unknown', {}, undefined, 'ok'],
  ['whose recipient refused before the lock', {}, 1_000n, 'recipientRefuses'],
])('a delivery %s is simulated again', async (_, terms, holding, kind) => {
  const { world, simulateDelivery } = createDestination({ holding, kind })

  await simulateDelivery({ ...op, ...terms })
  await simulateDelivery({ ...op, ...terms }, DELIVERER)

  expect(world.simulated).toBe(2)
})
