import { randomUUID } from 'node:crypto'
import type { Delivered, Landed, Refunded } from '../../chains/chain.ts'
import type { DeliveryTerms, LockTerms } from '../../chains/recovery.ts'
import type { NewOp } from '../../store/op-columns.ts'
import type { RecoveredSwap } from '../../store/rebuild.ts'
import { publicSubstatus, type SwapState } from '../../swap/lifecycle.ts'
import { type OpContent, termsOfOp } from '../../swap/op-terms.ts'
import { unquotedTerms } from '../../swap/quote.ts'
import type { RebuildDeps } from './facts.ts'
import { completeTerms } from './terms.ts'

/** An op that a chain has and the database lacks. */
export type Unknown = {
  hash: string
  originChain: number
  locked: Landed
  lock: LockTerms
  claimed?: Landed
  refunded?: Refunded
  delivered?: Delivered & { chainId: number }
  delivery?: DeliveryTerms
  /** Its terms as recovered from the chains; undefined makes it an orphan. */
  content?: OpContent
}

const ACCOUNT = 'recovered'

export function completeUnknown(deps: RebuildDeps, found: Omit<Unknown, 'content'>): Unknown {
  const { delivered, delivery } = found
  if (!delivered || !delivery) return found
  const { chainId, amount } = delivered
  const content = completeTerms(deps, { ...found, delivery: { ...delivery, chainId, amount } })
  return { ...found, content }
}

/** The rows of a recovered op. Unknown fields stay empty; nothing is invented. */
export function toRows(
  deps: RebuildDeps,
  unknown: Unknown,
): { op: NewOp; swap: RecoveredSwap; isOrphan: boolean } {
  const { hash, lock, locked, delivered, delivery, refunded } = unknown
  const content = unknown.content ?? orphanOf(deps, unknown)
  const id = randomUUID()
  const { payToken, payAmount, adapter } = delivery?.bought ?? {
    payToken: content.outputToken,
    payAmount: delivered?.amount ?? 0n,
  }
  const op = {
    ...unquotedTerms,
    ...content,
    payToken,
    payAmount,
    id,
    hash,
    deliveryHash: lock.deliveryHash,
    method: lock.method,
    depositAddress: lock.depositAddress,
    quoteId: `${ACCOUNT} ${hash}`,
    accountId: ACCOUNT,
    terms: unknown.content ? termsOfOp(deps.custodyOf, content).signed : lock,
    venue: deps.venueOf(delivered?.chainId ?? 0, adapter) ?? '',
    quotedOutput: delivered?.amount ?? 0n,
    walletBalance: 0n,
    walletBlock: 0n,
    originBlock: locked.block,
    destinationBlock: delivered?.block ?? 0n,
  }
  const state = stateOf(unknown)
  const swap = {
    swapId: deps.newSwapId(),
    opId: id,
    state,
    stage: publicSubstatus(state),
    originTxHash: locked.txHash,
    lockedBlock: locked.block,
    deliveryTxHash: delivered?.txHash,
    delivered: delivered?.amount,
    refundTxHash: refunded?.txHash,
    credited: refunded?.credited,
    refundReason: state === 'refunded' ? 'DELIVERY_EXPIRED' : undefined,
  }
  return { op, swap, isOrphan: unknown.content === undefined }
}

function stateOf({ claimed, refunded, delivered }: Unknown): SwapState {
  if (claimed) return 'closed'
  if (delivered) return 'settled'
  // A delivery may have been signed and still land: the deadline decides.
  return refunded ? 'refunded' : 'delivering'
}

/** Only input and deadlines matter. */
function orphanOf(deps: RebuildDeps, { originChain, lock }: Unknown): OpContent {
  const { wallet, inputToken, inputAmount, locker, signed } = lock
  const { opDeadline, refundDeadline } = signed ?? {
    opDeadline: lock.seconds,
    refundDeadline: lock.refundDeadline ?? deps.latestDeadlines(lock.seconds).refundDeadline,
  }
  const { position, round } = signed ?? { position: 0n, round: 0n }
  return {
    originChain,
    wallet,
    inputToken,
    inputAmount,
    locker,
    position,
    round,
    opDeadline,
    refundDeadline,
    destinationChain: 0,
    outputToken: '',
    recipient: '',
    minOutput: 0n,
    fillDeadline: refundDeadline - 1,
  }
}
