import type { Pool } from 'pg'
import { markUnsigned } from '../store/signed.ts'
import type { Catalog } from '../swap/catalog.ts'
import { type DeadlinePolicy, isClaimable } from '../swap/deadlines.ts'
import { expectedHardSeconds, isTooSlow } from '../swap/finality.ts'
import type { Op, Swap } from '../swap/swap.ts'
import type { ViewOfChain } from './views.ts'

type Parts = {
  deadlines: DeadlinePolicy
  catalog: Pick<Catalog, 'chains'>
  followers: ReadonlyMap<number, Pick<ViewOfChain, 'current' | 'measured'>>
}
type Terms = Pick<Op, 'originChain' | 'destinationChain' | 'refundDeadline'>

/**
 * Whether the input of a delivery made now can be claimed in time, by the newest block of its chain and the finality of
 * both chains; undefined until that block is known.
 */
export function createClaimCheck({ deadlines, catalog, followers }: Parts) {
  const hardSecondsOf = (chainId: number) => {
    const { configured, measured } = finalitySecondsOf({ catalog, followers }, chainId)
    return expectedHardSeconds(configured, measured)
  }
  return ({ originChain, destinationChain, refundDeadline }: Terms): boolean | undefined => {
    const head = followers.get(originChain)?.current()?.head
    const finality = {
      originSeconds: hardSecondsOf(originChain),
      destinationSeconds: hardSecondsOf(destinationChain),
    }
    return head && isClaimable(deadlines, finality, { refundDeadline }, head.seconds)
  }
}

/** Whether a chain's finality is so slow that nothing new is taken or paid there. */
export function createLateCheck(parts: Pick<Parts, 'catalog' | 'followers'>) {
  return (chainId: number): boolean => {
    const { configured, measured } = finalitySecondsOf(parts, chainId)
    return isTooSlow(configured, measured)
  }
}

function finalitySecondsOf({ catalog, followers }: Pick<Parts, 'catalog' | 'followers'>, chainId: number) {
  return {
    configured: catalog.chains.get(chainId)?.finality.hardSeconds ?? 0,
    measured: followers.get(chainId)?.measured().finalitySeconds,
  }
}

type Deps = {
  pool: Pool
  isSigned(swap: Swap): Promise<boolean>
  isRefundable(swap: Swap): Promise<boolean>
  onUnsigned(swap: Swap): void
}

export type SignedCheck = {
  /** Whether the input may be taken and the output paid. */
  isPayable(swap: Swap): Promise<boolean>
  isRefundable(swap: Swap): Promise<boolean>
}

/**
 * Verifies the wallet's signature before a key signs for a swap. Stops a swap whose terms the wallet did not sign, and
 * raises an alarm.
 */
export function createSignedCheck(deps: Deps): SignedCheck {
  async function note(swap: Swap, isFine: boolean): Promise<boolean> {
    const isKnown = (swap.isUnsigned ?? false) === !isFine
    if (isKnown) return isFine
    await markUnsigned(deps.pool, swap.id, !isFine)
    if (!isFine) deps.onUnsigned(swap)
    return isFine
  }
  return {
    isPayable: async (swap) => note(swap, await deps.isSigned(swap)),
    isRefundable: async (swap) => note(swap, await deps.isRefundable(swap)),
  }
}
