import { SwapRefusedError } from '@geoswap/sdk'
import { UserError } from '../errors.ts'
import type { FamilyName, Reads } from '../families/family.ts'
import { families } from '../families/registry.ts'

export type Chain = { chainId: number; name: string; family: FamilyName }

export function createNode(chain: Chain, rpcUrl: string): Reads {
  const reads = families[chain.family].createReads(chain, rpcUrl)
  return {
    balanceOf: (owner, token) => orNodeFailed(chain, reads.balanceOf(owner, token)),
    decimalsOf: (token) => orNodeFailed(chain, reads.decimalsOf(token)),
    symbolOf: (token) => orNodeFailed(chain, reads.symbolOf(token)),
  }
}

const isUnpaid = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'InsufficientFundsError' || isUnpaid(error.cause))

/** Turns failures of a node into an error that the user can act on. */
export async function orNodeFailed<T>(
  { chainId, name }: Omit<Chain, 'family'>,
  answer: Promise<T>,
): Promise<T> {
  try {
    return await answer
  } catch (cause) {
    if (cause instanceof UserError || cause instanceof SwapRefusedError) throw cause
    if (isUnpaid(cause))
      throw new UserError('NEEDS_GAS', `The wallet cannot pay for gas on ${name}.`, {
        advice: 'Send it gas coin.',
        cause,
      })
    const why = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause)
    const advice = `Set another one with geoswap config set rpc.${chainId} URL.`
    throw new UserError('NODE_FAILED', `The node of ${name} did not answer: ${why}`, { advice, cause })
  }
}
