import type { FunctionComponent } from 'preact'
import { ExploreView } from './explore/explore-view.tsx'
import { SwapView } from './swap/swap-view.tsx'

type View = { name: string; title: string; Show: FunctionComponent }

/** The views, in the order of the menu. The name is the path below /app. */
export const views: readonly View[] = [
  { name: 'swap', title: 'Swap', Show: SwapView },
  { name: 'explore', title: 'Explore', Show: ExploreView },
]
