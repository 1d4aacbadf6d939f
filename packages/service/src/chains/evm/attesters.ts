import { attestationTypes, geoEscrowAbi, geoOpDomain } from '@geoswap/protocol'
import { type Address, type Hex, hashTypedData, type PublicClient, type TypedDataDefinition } from 'viem'
import { createRecent } from '../../async/cache.ts'
import type { AttesterSet, DatedSet, ProposedSet } from '../../swap/attester-set.ts'
import type { CustodyOf } from '../../swap/op-terms.ts'
import type { Attested } from '../attested.ts'
import { recoverSigner } from './signatures.ts'

// The set of an op that can be locked now never changes.
const MAX_AGE_MS = 5_000

/** Reads the attesters of an escrow, by the refund deadline that they decide. */
export function createAttesterReader(client: PublicClient, escrow: Address) {
  const { read: readSets } = createRecent(MAX_AGE_MS, () => readAttesterSets(client, { escrow, from: 0 }))
  return async (refundDeadline: number): Promise<AttesterSet> => {
    const sets = await readSets()
    const set = sets.findLast(({ since }) => since <= refundDeadline)
    if (!set) throw new Error(`The escrow ${escrow} has no attesters`)
    return { members: set.members, threshold: set.threshold }
  }
}

type At = { escrow: Address; blockNumber?: bigint }

/** The sets that decide refund deadlines from the given one on, the oldest first. */
export async function readAttesterSets(
  client: PublicClient,
  { escrow, from, blockNumber }: At & { from: number },
): Promise<DatedSet[]> {
  const sets = await client.readContract({
    address: escrow,
    abi: geoEscrowAbi,
    functionName: 'attestersFrom',
    args: [BigInt(from)],
    blockNumber,
  })
  return sets.map(({ members, threshold, since }) => ({
    members,
    threshold: Number(threshold),
    since: Number(since),
  }))
}

/** Undefined without a proposal that can still be accepted. */
export async function readProposedSet(
  client: PublicClient,
  { escrow, blockNumber }: At,
): Promise<ProposedSet | undefined> {
  const [members, threshold, readyAt] = await client.readContract({
    address: escrow,
    abi: geoEscrowAbi,
    functionName: 'proposedAttesters',
    blockNumber,
  })
  if (members.length === 0) return undefined
  return { members, threshold: Number(threshold), readyAt: Number(readyAt) }
}

/** The typed data that attesters sign, which the escrow of an EVM chain accepts. */
export function createAttestationMessages(custodyOf: CustodyOf) {
  const domainOf = (chainId: number) => {
    const custody = custodyOf(chainId)
    if (!('escrow' in custody)) throw new Error(`Chain ${chainId} has no escrow contract`)
    return geoOpDomain({ chainId, escrow: custody.escrow })
  }
  const messageOf = ({ chainId, kind, opHashes, validUntil = 0 }: Attested): TypedDataDefinition => {
    const of = { domain: domainOf(chainId), types: attestationTypes }
    if (kind === 'claim') return { ...of, primaryType: 'Claims', message: { ops: opHashes as Hex[] } }
    const message = { op: opHashes[0] as Hex, validUntil: BigInt(validUntil) }
    return { ...of, primaryType: 'Refund', message }
  }
  return {
    messageOf,
    /** The address that signed this; undefined if the text is no signature. */
    recoverSigner: (attested: Attested, signature: string): string | undefined =>
      recoverSigner(hashTypedData(messageOf(attested)), signature as Hex),
  }
}
