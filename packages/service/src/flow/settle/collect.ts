import type { Attested } from '../../chains/attested.ts'
import { type AttesterSet, byAddress } from '../../model/attester-set.ts'
import type { Attestation, WrittenSignature } from '../../store/attestations.ts'

export type CollectDeps = {
  /** The address that signed this; undefined if the text is no signature. */
  recoverSigner(attested: Attested, signature: string): Promise<string | undefined>
  onRejected(id: string, written: WrittenSignature): void
}

type Collected = { set: AttesterSet; attested: Attested }

/**
 * The signatures that the escrow needs, in the order of their signers; undefined until enough members of the set have
 * signed. A signature counts for the member that made it, once, and not for the one that it names.
 */
export async function collectSignatures(
  deps: CollectDeps,
  { id, signatures }: Pick<Attestation, 'id' | 'signatures'>,
  { set, attested }: Collected,
): Promise<string[] | undefined> {
  const named = signatures.filter(({ signer }) => set.members.includes(signer))
  if (new Set(named.map(({ signer }) => signer)).size < set.threshold) return undefined
  const valid = new Map<string, string>()
  for (const written of named) {
    if (valid.has(written.signer)) continue
    const isBySigner = (await deps.recoverSigner(attested, written.signature)) === written.signer
    if (isBySigner) valid.set(written.signer, written.signature)
    else deps.onRejected(id, written)
  }
  if (valid.size < set.threshold) return undefined
  return [...valid]
    .sort(([a], [b]) => byAddress(a, b))
    .slice(0, set.threshold)
    .map(([, signature]) => signature)
}
