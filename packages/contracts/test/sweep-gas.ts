import type { Receipt } from '../scripts/chain.ts'
import { eventNames, type World, withRevert } from './world.ts'

type Range = { from: bigint; to: bigint; step: bigint }

/** Sends the same call with every gas limit of the range, and returns the distinct outcomes. */
export async function sweepGas(world: World, range: Range, send: (gas: bigint) => Promise<Receipt>) {
  const endings = new Set<string>()
  for (let gas = range.from; gas <= range.to; gas += range.step) {
    const ending = await withRevert(world, () =>
      send(gas).then(
        (receipt) => eventNames(world, receipt).join(),
        () => 'reverted',
      ),
    )
    endings.add(ending)
  }
  return [...endings].sort()
}
