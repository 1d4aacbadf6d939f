import type { Hex } from 'viem'
import { afterEach, beforeEach } from 'vitest'
import { ask } from '../scripts/chain.ts'
import type { World } from './world.ts'

/** Gives every test of a file the world as it is now. */
export function isolate(world: World): void {
  let snapshot: Hex
  beforeEach(async () => {
    snapshot = await ask<Hex>(world.chain, 'evm_snapshot')
  })
  afterEach(async () => {
    await ask(world.chain, 'evm_revert', [snapshot])
  })
}
