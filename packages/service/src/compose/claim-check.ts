import { type Config, defaultDeadlines } from '../config.ts'
import type { HeadFollower } from '../lanes/head-follower.ts'
import type { Catalog } from '../model/catalog.ts'
import { isClaimable } from '../model/deadlines.ts'
import type { Op } from '../model/swap.ts'

type Parts = {
  config: Pick<Config, 'network'>
  catalog: Pick<Catalog, 'chains'>
  followers: ReadonlyMap<number, Pick<HeadFollower, 'current'>>
}
type Terms = Pick<Op, 'originChain' | 'destinationChain' | 'refundDeadline'>

/**
 * Whether what is delivered now could still be claimed in time, by the newest block of the input's chain; undefined
 * until this process has seen one.
 */
export function createClaimCheck({ config, catalog, followers }: Parts) {
  const policy = { ...defaultDeadlines, ...config.network.deadlines }
  const hardSecondsOf = (chainId: number) => catalog.chains.get(chainId)?.finality.hardSeconds ?? 0
  return ({ originChain, destinationChain, refundDeadline }: Terms): boolean | undefined => {
    const head = followers.get(originChain)?.current()?.head
    const finality = {
      originSeconds: hardSecondsOf(originChain),
      destinationSeconds: hardSecondsOf(destinationChain),
    }
    return head && isClaimable(policy, finality, { refundDeadline }, head.seconds)
  }
}
