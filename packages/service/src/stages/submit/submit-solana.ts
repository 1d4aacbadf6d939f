import type { SubmitReply, SubmitSolanaRequest } from '@geoswap/wire'
import type { InputBuilder, PaidInput } from '../../chains/chain.ts'
import { ServiceError } from '../../errors.ts'
import type { Market } from '../../swap/catalog.ts'
import { type Caller, type SubmitOnceDeps, submitOnce } from './submit-once.ts'

/** Identifies the built transaction and its last valid block height. */
type OpenedInput = {
  opId: string
  chainId: number
  messageHash: string
  lastValid: string
  expiresAt: number
}

type SubmitSolanaDeps = SubmitOnceDeps & {
  market: Market
  openInput(accountId: string, token: string): OpenedInput
  builderOf(chainId: number): InputBuilder | undefined
}

/** Accepts the built transaction with the wallet's signature; the service adds its own when it sends it. */
export async function submitSolana(
  deps: SubmitSolanaDeps,
  caller: Caller,
  request: SubmitSolanaRequest,
): Promise<SubmitReply> {
  const input = deps.openInput(caller.accountId, request.geoOpToken)
  const lastValid = BigInt(input.lastValid)
  return submitOnce(deps, {
    caller,
    opId: input.opId,
    expiresAt: input.expiresAt,
    isOver: isOver(deps, input),
    // If the wallet has changed since the build, its transaction fails.
    async recheck() {},
    async verify({ wallet }) {
      const { signedTransaction } = request
      const { messageHash } = input
      const checked = await deps.builderOf(input.chainId)?.check({ messageHash, wallet, signedTransaction })
      if (!checked || checked.kind === 'mismatch') throw new ServiceError('TRANSACTION_MISMATCH')
      if (checked.kind === 'badSignature') throw unsigned(wallet)
      return { signature: checked.signedTransaction, lastValid }
    },
  })
}

/** Accepts the transaction of a payer, whose signature was checked before it was compared with the op. */
export function submitPaid(
  deps: SubmitOnceDeps,
  caller: Caller,
  opId: string,
  { signedTransaction, lastValid, isOver }: PaidInput,
): Promise<SubmitReply> {
  const verify = async () => ({ signature: signedTransaction, lastValid })
  return submitOnce(deps, { caller, opId, expiresAt: undefined, isOver, recheck: async () => {}, verify })
}

/**
 * Whether the chain passed the last valid height before the time ran out. A swap accepted despite that fails,
 * untouched.
 */
function isOver({ market }: SubmitSolanaDeps, { chainId, lastValid }: OpenedInput): boolean {
  const height = market.chainNow(chainId)?.height
  return height !== undefined && height > BigInt(lastValid)
}

/** The catalogue's message is about the hash that EVM wallets sign. */
function unsigned(wallet: string): ServiceError {
  return new ServiceError('INVALID_SIGNATURE', {
    message: `The transaction is not signed by ${wallet}. Sign unsignedTransaction with the wallet's key.`,
  })
}
