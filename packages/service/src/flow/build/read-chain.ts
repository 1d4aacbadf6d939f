import { ServiceError } from '../../errors.ts'

// Time for one silent node and the answer of the next, within the route's own timeout.
const MAX_WAIT_MS = 15_000

/** Answers 503 if no node answers: the chain is unavailable, and the caller may retry. */
export async function readOrUnavailable<T>(
  chain: { chainId: number; name: string },
  reading: Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('No node answered in time')), MAX_WAIT_MS)
  })
  try {
    return await Promise.race([reading, late])
  } catch (cause) {
    throw new ServiceError('CHAIN_UNAVAILABLE', {
      message: `Chain ${chain.name} does not answer. Try again in a few seconds.`,
      details: { chainId: chain.chainId },
      recovery: { retryAfterMs: 2_000 },
      cause,
    })
  } finally {
    clearTimeout(timer)
  }
}
