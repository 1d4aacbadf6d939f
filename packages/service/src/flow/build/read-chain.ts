import { ServiceError } from '../../errors.ts'

/** A node that does not answer is the chain's fault, not the caller's and not ours: 503, try again. */
export async function readOrUnavailable<T>(
  chain: { chainId: number; name: string },
  reading: Promise<T>,
): Promise<T> {
  try {
    return await reading
  } catch (cause) {
    throw new ServiceError('CHAIN_UNAVAILABLE', {
      message: `Chain ${chain.name} does not answer. Try again in a few seconds.`,
      details: { chainId: chain.chainId },
      recovery: { retryAfterMs: 2_000 },
      cause,
    })
  }
}
