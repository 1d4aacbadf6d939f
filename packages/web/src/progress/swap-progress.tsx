import type { StatusReply, SwapRecord } from '@geoswap/sdk'
import { journeyOf, stepsOf } from './journey.ts'
import { Outcome } from './outcome.tsx'
import { Picture } from './picture.tsx'
import { Timeline } from './timeline.tsx'

/** The request of the swap, which the status does not have. */
export type SwapTerms = Pick<SwapRecord, 'walletAddress' | 'recipient' | 'inputToken' | 'outputToken'>

/** Where the funds are, as a picture and as a list, and the outcome. */
export function SwapProgress({ swap, terms }: { swap: StatusReply; terms: SwapTerms | undefined }) {
  return (
    <>
      <Picture swap={swap} terms={terms} journey={journeyOf(swap)} />
      <Outcome swap={swap} terms={terms} />
      <Timeline steps={stepsOf(swap)} />
    </>
  )
}
