import type { ServedChain } from '../model/served-chain.ts'
import { describeUnsigned, type UnsignedKeys } from '../model/unsigned-keys.ts'

type Options = {
  isDatabaseUp(): Promise<boolean>
  followers: readonly { chain: string; follower: { isLive(): boolean } }[]
  heldLanes(): number
  served: readonly ServedChain[]
  unsigned(): UnsignedKeys
}

/** The readiness of a worker: its database answers, and it follows at least one chain. */
export function createWorkerReady({ isDatabaseUp, followers, heldLanes, served, unsigned }: Options) {
  return async () => {
    const database = await isDatabaseUp()
    const chains = followers.filter(({ follower }) => follower.isLive()).map(({ chain }) => chain)
    const signers = served.flatMap((chain) => describeUnsigned(chain, unsigned()))
    const checks = { database, chains, lanes: heldLanes(), signers }
    return { ok: database && chains.length > 0, checks }
  }
}
