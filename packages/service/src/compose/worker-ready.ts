type Options = {
  isDatabaseUp(): Promise<boolean>
  followers: readonly { chain: string; follower: { isLive(): boolean } }[]
  heldLanes(): number
}

/** The readiness of a worker: its database answers, and it follows at least one chain. */
export function createWorkerReady({ isDatabaseUp, followers, heldLanes }: Options) {
  return async () => {
    const database = await isDatabaseUp()
    const chains = followers.filter(({ follower }) => follower.isLive()).map(({ chain }) => chain)
    return { ok: database && chains.length > 0, checks: { database, chains, lanes: heldLanes() } }
  }
}
