import { geoEscrowAbi } from '@geoswap/protocol'
import type { Address, PublicClient } from 'viem'
import type { AttesterChange, AttesterSet } from '../../model/attester-set.ts'

// A set is announced eight days before it counts.
const MAX_AGE_MS = 5_000

export type EscrowSet = AttesterSet & { since: number }

/** Reads the attesters of an escrow, by the refund deadline that they decide. */
export function createAttesterReader(client: PublicClient, escrow: Address) {
  const readSets = remember(() => readAttesterSets(client, escrow))
  return async (refundDeadline: number): Promise<AttesterSet> => {
    const sets = await readSets()
    const set = sets.findLast(({ since }) => since <= refundDeadline)
    if (!set) throw new Error(`The escrow ${escrow} has no attesters`)
    return { members: set.members, threshold: set.threshold }
  }
}

/** Reads the pending change of an escrow's attesters, for every lock. */
export function createChangeReader(client: PublicClient, escrow: Address) {
  return remember(() => readAttesterChange(client, { escrow }))
}

/** A failed reading is not kept. */
function remember<T>(read: () => Promise<T>): () => Promise<T> {
  let known: { value: Promise<T>; at: number } | undefined
  return () => {
    if (known && performance.now() - known.at < MAX_AGE_MS) return known.value
    const value = read()
    known = { value, at: performance.now() }
    value.catch(() => {
      known = undefined
    })
    return value
  }
}

/** All sets of an escrow, the oldest first. */
export async function readAttesterSets(client: PublicClient, escrow: Address): Promise<EscrowSet[]> {
  const contract = { address: escrow, abi: geoEscrowAbi } as const
  const count = await client.readContract({ ...contract, functionName: 'attesterSetCount' })
  return Promise.all(
    Array.from({ length: Number(count) }, async (_, number) => {
      const args = [BigInt(number)] as const
      const [members, threshold, since] = await client.readContract({
        ...contract,
        functionName: 'attesterSet',
        args,
      })
      return { members, threshold: Number(threshold), since: Number(since) }
    }),
  )
}

/** Undefined without a proposal that can still be accepted. */
export async function readAttesterChange(
  client: PublicClient,
  { escrow, blockNumber }: { escrow: Address; blockNumber?: bigint },
): Promise<AttesterChange | undefined> {
  const [members, threshold, readyAt] = await client.readContract({
    address: escrow,
    abi: geoEscrowAbi,
    functionName: 'proposedAttesters',
    ...(blockNumber !== undefined && { blockNumber }),
  })
  if (members.length === 0) return undefined
  return { members, threshold: Number(threshold), readyAt: Number(readyAt) }
}
