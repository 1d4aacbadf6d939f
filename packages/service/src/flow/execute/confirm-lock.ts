import type { Pool } from 'pg'
import type { ChainEvent, Heads, LockState, OriginChain } from '../../chains/chain.ts'
import { decideOrigin, type OriginDecision } from '../../model/origin.ts'
import type { Swap } from '../../model/swap.ts'
import { inTransaction } from '../../store/db.ts'
import { freePositions } from '../../store/ops.ts'
import { advanceSwap, type Change, findOpenByOrigin, markOriginFinal } from '../../store/swaps.ts'
import { missingInput } from './decline.ts'

/** `since` is the block of the build: nothing about the op is older. */
export type EventLookup = (
  kind: ChainEvent['kind'],
  id: string,
  since: bigint,
) => Promise<ChainEvent | undefined>

export type ConfirmLockDeps = {
  pool: Pool
  origin: OriginChain
  reorgSeconds: number
  findEvent: EventLookup
  onMoved(swap: Swap, event: OriginDecision): void
}

/** Moves every swap of this origin chain on by what the escrow shows. */
export async function confirmOrigin(deps: ConfirmLockDeps, heads: Heads): Promise<void> {
  const swaps = await findOpenByOrigin(deps.pool, deps.origin.chainId)
  const refs = swaps.map(({ op }) => op)
  const [soft, hard] = await Promise.all([
    deps.origin.readLocks(refs, heads.accept),
    deps.origin.readLocks(refs, heads.hard),
  ])
  const final: Swap[] = []
  for (const swap of swaps) {
    const view = {
      soft: stateIn(soft, swap),
      hard: stateIn(hard, swap),
      softSeconds: heads.accept.seconds,
      hardSeconds: heads.hard.seconds,
    }
    const decision = decideOrigin(swap, view, deps.reorgSeconds)
    if (decision === 'lockFinal') final.push(swap)
    else if (decision !== 'nothing') await act(deps, heads, swap, decision)
  }
  if (final.length > 0) await markOriginFinal(deps.pool, final)
}

const stateIn = (states: Map<string, LockState>, swap: Swap): LockState => states.get(swap.op.hash) ?? 'none'

type Move = Exclude<OriginDecision, 'nothing' | 'lockFinal'>

async function act(deps: ConfirmLockDeps, heads: Heads, swap: Swap, event: Move): Promise<void> {
  const change = await changeFor(deps, heads, swap, event)
  if (!change) return
  const moved = await inTransaction(deps.pool, async (db) => {
    const moved = await advanceSwap(db, change)
    // The slot is hard-final claimed or refunded: the next op may use the position with a higher round.
    if (moved && (event === 'claimFinal' || event === 'refundFinal')) await freePositions(db, [swap.op.id])
    return moved
  })
  if (moved) deps.onMoved(moved, event)
}

async function changeFor(
  deps: ConfirmLockDeps,
  heads: Heads,
  swap: Swap,
  event: Move,
): Promise<Change | undefined> {
  switch (event) {
    case 'lockSeen': {
      const locked = await deps.findEvent('locked', swap.op.hash, swap.op.originBlock)
      return locked && { swap, event, originTxHash: locked.txHash, lockedBlock: locked.block }
    }
    case 'refundFinal': {
      const refunded = await deps.findEvent('refunded', swap.op.hash, swap.op.originBlock)
      if (!refunded) return undefined
      const named = {
        refundTxHash: refunded.txHash,
        credited: refunded.creditedTo?.includes(swap.op.wallet) ?? false,
      }
      return { swap, event, refundReason: swap.refundReason ?? 'DELIVERY_EXPIRED', ...named }
    }
    case 'lockDead': {
      const wallet = await deps.origin.readWallet({ wallet: swap.op.wallet, token: swap.op.inputToken })
      const failureCode = missingInput(swap, wallet) ?? 'OPERATION_EXPIRED'
      return { swap, event, failureCode, proof: deadlinePassed(deps, heads) }
    }
    case 'lockLost':
    case 'claimFinal':
      return { swap, event }
  }
}

/** A hard-final block past the deadline in which the slot does not hold the op: it can never be locked. */
function deadlinePassed(deps: ConfirmLockDeps, heads: Heads) {
  return { kind: 'notLockedPastDeadline', chainId: deps.origin.chainId, block: heads.hard }
}
