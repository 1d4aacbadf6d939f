import { afterAll, beforeAll, describe } from 'vitest'
import { createActor, type Stage } from './actor.ts'
import { describeClosing } from './closing.ts'
import { describeDeliveries } from './deliveries.ts'
import { startEvmWorld } from './evm-world.ts'
import { describeHeads } from './heads.ts'
import { describeInputs } from './inputs.ts'
import { describeSending } from './sending.ts'
import { startSolanaConformanceWorld } from './solana-world.ts'
import type { ConformanceWorld } from './world.ts'

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
