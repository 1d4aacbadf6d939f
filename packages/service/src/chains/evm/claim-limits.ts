import { geoEscrowAbi } from '@geoswap/protocol'
import type { Address, PublicClient } from 'viem'
import type { ClaimCap } from '../chain.ts'

// The treasury rarely changes caps, but every lock and every claim reads them.
const MAX_AGE_MS = 5_000

/** Reads how much of a token the escrow releases to the vault per hour, and how much is left of this hour. */
export function createClaimLimits(client: PublicClient, escrow: Address) {
  const known = new Map<string, { cap: Promise<ClaimCap>; at: number }>()
  return (token: string): Promise<ClaimCap> => {
    const found = known.get(token)
    if (found && performance.now() - found.at < MAX_AGE_MS) return found.cap
    const cap = readCap(client, escrow, token as Address)
    known.set(token, { cap, at: performance.now() })
    cap.catch(() => known.delete(token))
    return cap
  }
}

async function readCap(client: PublicClient, escrow: Address, token: Address): Promise<ClaimCap> {
  const [perHour, claimed] = await client.readContract({
    address: escrow,
    abi: geoEscrowAbi,
    functionName: 'claimCaps',
    args: [token],
  })
  return { perHour, left: claimed < perHour ? perHour - claimed : 0n, claimed }
}
