import type { AttesterSignature } from '@geoswap/protocol'
import type { Attested } from '../../chains/attested.ts'
import type { Attestation, WrittenSignature } from '../../store/attestations.ts'
import type { AttesterSet } from '../../swap/attester-set.ts'

export type CollectDeps = {
  /** The address that signed this; undefined if the text is no signature. */
  recoverSigner(attested: Attested, signature: string): Promise<string | undefined>
  onRejected(id: string, written: WrittenSignature): void
}

type Collected = { set: AttesterSet; attested: Attested }

/**
 * As many signatures as the escrow needs; undefined until enough members of the set have signed. A signature counts
 * once, for the member that made it.
 */
export async function collectSignatures(
  deps: CollectDeps,
  { id, signatures }: Pick<Attestation, 'id' | 'signatures'>,
  { set, attested }: Collected,
): Promise<AttesterSignature[] | undefined> {
  const named = signatures.filter(({ signer }) => set.members.includes(signer))
  if (new Set(named.map(({ signer }) => signer)).size < set.threshold) return undefined
  const valid = new Map<string, AttesterSignature>()
  for (const written of named) {
    if (valid.has(written.signer)) continue
    const isBySigner = (await deps.recoverSigner(attested, written.signature)) === written.signer
    if (isBySigner) valid.set(written.signer, written as AttesterSignature)
    else deps.onRejected(id, written)
  }
  if (valid.size < set.threshold) return undefined
  return [...valid.values()].slice(0, set.threshold)
}
