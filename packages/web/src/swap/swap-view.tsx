import { useFocusRescue } from '../parts/use-focus.ts'
import { useActiveSwap } from './active.ts'
import { ActiveSwapView } from './active-swap-view.tsx'
import { NewSwap } from './new-swap.tsx'

/** One swap at a time: the current one, or the next one. */
export function SwapView() {
  const active = useActiveSwap()
  useFocusRescue(active?.submission.geoOpToken)
  return active ? <ActiveSwapView key={active.submission.geoOpToken} active={active} /> : <NewSwap />
}
