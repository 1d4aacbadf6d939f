import type { SubmitReply } from '@geoswap/wire'
import { GeoswapError, type Submission, SubmissionUnknownError } from './errors.ts'
import { type RetryPolicy, withRetries } from './retry.ts'

type Sender = { policy: RetryPolicy; post(submission: Submission): Promise<SubmitReply> }

/**
 * Sends the same submission until its outcome is known. A 410 is an outcome too: no swap exists for this op
 * and none will. Any other error after a lost reply is a SubmissionUnknownError.
 */
export async function submitUntilKnown(
  { policy, post }: Sender,
  submission: Submission,
  signal?: AbortSignal,
): Promise<SubmitReply> {
  signal?.throwIfAborted()
  let isUnknown = false
  const once = async () => {
    try {
      return await post(submission)
    } catch (error) {
      isUnknown ||= mayHaveArrived(error)
      throw error
    }
  }
  try {
    return await withRetries({ policy, forMs: policy.submitForMs, signal }, once)
  } catch (cause) {
    if (!isUnknown || isGone(cause)) throw cause
    throw new SubmissionUnknownError(submission, { cause })
  }
}

export function isGone(error: unknown): boolean {
  return error instanceof GeoswapError && error.status === 410
}

/**
 * A refusal below 500 means that nothing was stored. Any other failure may have come after the swap was
 * created.
 */
function mayHaveArrived(error: unknown): boolean {
  return !(error instanceof GeoswapError) || error.status < 400 || error.status >= 500
}
