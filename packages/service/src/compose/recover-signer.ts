import type { Attested } from '../chains/attested.ts'
import { createAttestationMessages } from '../chains/evm/attestation-signing.ts'
import type { Chains } from './chains.ts'

/** Finds the attester who signed: typed data for the escrows of EVM chains, transactions for the program of Solana. */
export function createRecoverSigner(chains: Pick<Chains, 'of' | 'custodyOf'>) {
  const messages = createAttestationMessages(chains.custodyOf)
  return async (attested: Attested, signature: string): Promise<string | undefined> => {
    const { solana } = chains.of(attested.chainId)
    return solana ? solana.recoverAttester(signature) : messages.recoverSigner(attested, signature)
  }
}
