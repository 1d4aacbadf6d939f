import { ServiceError } from '../../errors.ts'

// Time for one silent node and the answer of the next, within the route's own timeout.
const MAX_WAIT_MS = 15_000

// Half of a provider's backends may lag by a block or two.
const AGAIN_MS = [50, 100, 150, 200, 300]

type Chain = { chainId: number; name: string }

/**
 * Reads a wallet that has to hold this amount, and asks again while it holds less: a lagging backend does not know of a
 * payment that the wallet has just received.
 */
export async function readHolder<T extends { balance: bigint }>(
  chain: Chain,
  amount: bigint,
  read: () => Promise<T>,
): Promise<T> {
  let holder = await readOrUnavailable(chain, read())
  for (const ms of AGAIN_MS) {
    if (holder.balance >= amount) return holder
    await new Promise((resolve) => setTimeout(resolve, ms))
    holder = await readOrUnavailable(chain, read())
  }
  return holder
}

/** Answers 503 if no node answers: the chain is unavailable, and the caller may retry. */
export async function readOrUnavailable<T>(chain: Chain, reading: Promise<T>): Promise<T> {
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
