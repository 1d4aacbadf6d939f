import type { StatusReply } from '@geoswap/sdk'
import { journeyOf, stepsOf } from './journey.ts'
import { Outcome } from './outcome.tsx'
import { Picture } from './picture.tsx'
import type { SwapTerms } from './swap-terms.ts'
import { Timeline } from './timeline.tsx'

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
