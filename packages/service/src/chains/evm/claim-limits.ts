import { geoEscrowAbi } from '@geoswap/protocol'
import type { Address, PublicClient } from 'viem'

// The treasury changes them once in a while; every lock asks.
const MAX_AGE_MS = 5_000

/** How much of a token the escrow lets go to the vault in an hour. */
export function createClaimLimits(client: PublicClient, escrow: Address) {
  const known = new Map<string, { limit: Promise<bigint>; at: number }>()
  return (token: string): Promise<bigint> => {
    const found = known.get(token)
    if (found && performance.now() - found.at < MAX_AGE_MS) return found.limit
    const limit = readLimit(client, escrow, token as Address)
    known.set(token, { limit, at: performance.now() })
    limit.catch(() => known.delete(token))
    return limit
  }
}

async function readLimit(client: PublicClient, escrow: Address, token: Address): Promise<bigint> {
  const [limit] = await client.readContract({
    ...{ address: escrow, abi: geoEscrowAbi, functionName: 'claimCaps', args: [token] },
  })
  return limit
}
