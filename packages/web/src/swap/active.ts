import type { QuoteRequest, Submission } from '@geoswap/sdk'
import { forget, keep, readKept } from '../kept.ts'
import { createObservable, useObservable } from '../observable.ts'

/** The swap that this tab is about, from its signature on. It is kept before anything is sent. */
export type ActiveSwap = {
  request: QuoteRequest
  submission: Submission
  /** What was signed, decoded: with it an EVM input comes back without the service. */
  operation: unknown
  /** Once the service has said so. */
  swapId?: string
}

const NAME = 'active-swap'
const active = createObservable(readKept<ActiveSwap>(NAME))

export const useActiveSwap = (): ActiveSwap | undefined => useObservable(active)

export function setActiveSwap(swap: ActiveSwap | undefined): void {
  if (swap) keep(NAME, swap)
  else forget(NAME)
  active.set(swap)
}
