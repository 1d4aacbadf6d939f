import { useFocusRescue } from '../parts/use-focus.ts'
import { keyOf, useActiveSwap } from './active.ts'
import { ActiveSwapView } from './active-swap-view.tsx'
import { NewSwap } from './new-swap.tsx'

/** One swap at a time: the current one, or the next one. */
export function SwapView() {
  const active = useActiveSwap()
  useFocusRescue(active && keyOf(active))
  return active ? <ActiveSwapView key={keyOf(active)} active={active} /> : <NewSwap />
}
