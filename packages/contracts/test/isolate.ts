import type { Hex } from 'viem'
import { afterEach, beforeEach } from 'vitest'
import { ask } from '../scripts/chain.ts'
import type { World } from './world.ts'

/** Reverts the world to its current state after every test of a file. */
export function isolate(world: World): void {
  let snapshot: Hex
  beforeEach(async () => {
    snapshot = await ask<Hex>(world.chain, 'evm_snapshot')
  })
  afterEach(async () => {
    await ask(world.chain, 'evm_revert', [snapshot])
  })
}
