import { afterAll, beforeAll, describe } from 'vitest'
import { createActor, type Stage } from './test-actor.ts'
import { describeClosing } from './test-closing.ts'
import { describeDeliveries } from './test-deliveries.ts'
import { startEvmWorld } from './test-evm-world.ts'
import { describeHeads } from './test-heads.ts'
import { describeInputs } from './test-inputs.ts'
import { describeSending } from './test-sending.ts'
import { startSolanaConformanceWorld } from './test-solana-world.ts'
import type { ConformanceWorld } from './test-world.ts'

const families: { family: string; start(): Promise<ConformanceWorld> }[] = [
  { family: 'EVM', start: startEvmWorld },
  { family: 'Solana', start: startSolanaConformanceWorld },
]

// Each family keeps the contract of chains/chain.ts on a real chain, through the ports alone.
describe.each(families)('$family', ({ start }) => {
  let stage: Stage | undefined
  beforeAll(async () => {
    const world = await start()
    const { head } = await world.chain.readHeads()
    stage = { world, chain: world.chain, actor: createActor(world, { since: head.number }) }
  })
  afterAll(() => stage?.world.stop())

  const onStage = (): Stage => {
    if (!stage) throw new Error('The chain did not start')
    return stage
  }
  describe('heads', () => describeHeads(onStage))
  describe('an input', () => describeInputs(onStage))
  describe('a signed transaction', () => describeSending(onStage))
  describe('a locked input', () => describeClosing(onStage))
  describe('a delivery', () => describeDeliveries(onStage))
})
