import type { FunctionComponent } from 'preact'
import { BalancesView } from './balances/balances-view.tsx'
import { ExploreView } from './explore/explore-view.tsx'
import { OpenView } from './open/open-view.tsx'
import { SwapView } from './swap/new-swap.tsx'

type View = { name: string; title: string; Show: FunctionComponent }

/** The views, in the order of the menu. The name is the path below /app. */
export const views: readonly View[] = [
  { name: 'swap', title: 'Swap', Show: SwapView },
  { name: 'open', title: 'Open', Show: OpenView },
  { name: 'balances', title: 'Balances', Show: BalancesView },
  { name: 'explore', title: 'Explore', Show: ExploreView },
]
