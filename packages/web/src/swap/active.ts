import type { QuoteRequest, Submission } from '@geoswap/sdk'
import { createObservable, useObservable } from '../route.ts'
import { forget, keep, readStored } from '../storage.ts'

/** The swap of this tab, from its signature on. It is stored before anything is sent. */
export type ActiveSwap = {
  request: QuoteRequest
  /** The order in the words of its address, where the back button leads. */
  order: string
  /** Absent if the input is deposited: nothing is signed. */
  submission?: Submission
  /** In seconds: the signature can be used until then, whatever the service says. */
  lockableUntil?: number
  /** The transfer that the swap waits for. `openedAt` is in milliseconds. */
  deposit?: { address: string; amount: string; until: string; openedAt: number }
  /** The decoded signed operation: with it an EVM input can be refunded without the service. */
  operation: unknown
  /** Set once the service has accepted the submission. */
  swapId?: string
}

/** The same before and after the service has answered. */
export const keyOf = ({ submission, swapId }: ActiveSwap): string => submission?.geoOpToken ?? swapId ?? ''

const NAME = 'active-swap'
const active = createObservable(readStored<ActiveSwap>(NAME))

export const useActiveSwap = (): ActiveSwap | undefined => useObservable(active)

export function setActiveSwap(swap: ActiveSwap | undefined): void {
  if (swap) keep(NAME, swap)
  else forget(NAME)
  active.set(swap)
}
