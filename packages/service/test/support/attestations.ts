import { insertAttestation, recordCheck } from '../../src/store/attestations.ts'
import type { Db } from '../../src/store/db.ts'

const SIGNER = 'signer'

/** Counts the signatures of `insertSigned`. */
export const oneSigner = {
  readAttesters: async () => ({ members: [SIGNER], threshold: 1 }),
  recoverSigner: async (_attested: unknown, signature: string) => signature.slice('by '.length),
  onRejected: () => {},
}

type Signed = Parameters<typeof insertAttestation>[1]

/** Proposes an attestation, and signs it as these. */
export async function insertSigned(db: Db, attestation: Signed, signers = [SIGNER]): Promise<string> {
  await insertAttestation(db, attestation)
  const { rows } = await db.query<{ id: string }>('select max(id) as id from attestations')
  const attestationId = rows[0]?.id ?? ''
  for (const signer of signers) await recordCheck(db, { attestationId, signer, signature: `by ${signer}` })
  return attestationId
}
