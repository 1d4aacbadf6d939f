import type { Heads } from '../chains/chain.ts'
import type { ChainState, ChainView } from '../chains/view.ts'
import type { ChainNow, LegCosts } from '../model/catalog.ts'

// Older fees say nothing about the current ones.
const COSTS_MS = 60_000

type View = {
  current(): Heads | undefined
  isLive(): boolean
  part(name: 'costs'): { value: LegCosts; ageMs: number } | undefined
  part(name: 'state'): { value: Pick<ChainState, 'attesterChange'> } | undefined
  measured(): ChainView['measured']
}

/** A chain as a quote sees it; undefined while it is not live, or its fees are unknown. */
export function toChainNow(view: View): ChainNow | undefined {
  const [heads, costs] = [view.current(), view.part('costs')]
  if (!heads || !costs || !view.isLive() || costs.ageMs > COSTS_MS) return undefined
  const { seconds, number: block, height } = heads.head
  const { finalitySeconds } = view.measured()
  const attesterChange = view.part('state')?.value.attesterChange
  return {
    seconds,
    block,
    height,
    costs: costs.value,
    ...(finalitySeconds !== undefined && { finalitySeconds }),
    ...(attesterChange && { attesterChange }),
  }
}
