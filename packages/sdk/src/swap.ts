import type { SubmitReply } from '@geoswap/wire'
import type { Submission } from './errors.ts'
import { type PrepareDeps, type PrepareOptions, prepare, type SwapRequest } from './prepare.ts'
import { orAborted } from './retry.ts'
import type { Signer } from './signers.ts'
import type { EndedSwap, WaitOptions } from './wait.ts'

export type SwapOptions = PrepareOptions & {
  /** Time to wait for the end after the submission. */
  timeoutMs?: number | undefined
}

type SwapDeps = PrepareDeps & {
  submit(submission: Submission, options: { signal?: AbortSignal | undefined }): Promise<SubmitReply>
  waitForSwap(swapId: string, options: WaitOptions): Promise<EndedSwap>
}

/** Quotes, checks, signs, submits and waits. Returns the swap at its end, whatever its status. */
export async function swap(
  deps: SwapDeps,
  asked: SwapRequest,
  signer: Signer,
  options: SwapOptions,
): Promise<EndedSwap> {
  const { onProgress, signal, timeoutMs } = options
  const { request, submission, lockableUntil, payment } = await prepare(deps, asked, signer, options)
  onProgress?.({ step: 'submitting', submission, lockableUntil })
  // If the caller aborts here, the submission was not sent and remains the caller's.
  signal?.throwIfAborted()
  const { swapId } = await deps.submit(submission, { signal })
  onProgress?.({ step: 'submitted', swapId })
  if (payment && signer.family === 'evm') {
    onProgress?.({ step: 'paying', payment })
    await orAborted(async () => signer.sendPayment?.(payment), signal)
  }
  const ended = await deps.waitForSwap(swapId, {
    signal,
    timeoutMs,
    onProgress: onProgress && ((read) => onProgress({ step: 'status', swap: read })),
  })
  if (ended.status === 'settled') deps.openSignatures.release(request)
  return ended
}
