import { geoEscrowAbi } from '@geoswap/protocol'
import type { Address, PublicClient } from 'viem'
import { createRecent } from '../../async/recent.ts'
import type { ClaimCap } from '../chain.ts'

// The treasury rarely changes caps, but every lock and every claim reads them.
const MAX_AGE_MS = 5_000

/** Reads how much of a token the escrow releases to the vault per hour, and how much is left of this hour. */
export function createClaimLimits(client: PublicClient, escrow: Address) {
  return rememberByToken((token) => readCap(client, escrow, token))
}

/** Reads how much of a token the escrow refunds by attestation in the rest of this hour: nothing while stopped. */
export function createRefundRoom(client: PublicClient, escrow: Address) {
  const contract = { address: escrow, abi: geoEscrowAbi } as const
  return rememberByToken(async (token) => {
    const [isStopped, [perHour, refunded]] = await Promise.all([
      client.readContract({ ...contract, functionName: 'attestedRefundsStopped' }),
      client.readContract({ ...contract, functionName: 'refundCaps', args: [token] }),
    ])
    return isStopped || refunded > perHour ? 0n : perHour - refunded
  })
}

function rememberByToken<T>(read: (token: Address) => Promise<T>) {
  const known = new Map<string, { read(): Promise<T> }>()
  return (token: string): Promise<T> => {
    const recent = known.get(token) ?? createRecent(MAX_AGE_MS, () => read(token as Address))
    known.set(token, recent)
    return recent.read()
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
