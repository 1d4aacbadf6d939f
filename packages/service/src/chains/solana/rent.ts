import { MARKER_BYTES } from '@geoswap/solana-escrow'
import type { SolanaClient } from './client.ts'
import type { Token } from './mint.ts'
import { TOKEN_2022_PROGRAM_ADDRESS } from './token-layout.ts'

/** Rent minimums of accounts. */
export type Rent = {
  /** For an account without data, such as a wallet. */
  emptyLamports: bigint
  tokenAccountLamports: bigint
  token2022AccountLamports: bigint
  /** For the marker of a delivery. */
  markerLamports: bigint
}

const TOKEN_ACCOUNT_BYTES = 165n
// Token-2022 gives an associated account one extension, `immutableOwner`: 1 byte of kind, 4 of header. Mints whose
// accounts need more are refused.
const TOKEN_2022_ACCOUNT_BYTES = 170n

export async function readRent({ rpc }: SolanaClient): Promise<Rent> {
  const [emptyLamports, tokenAccountLamports, token2022AccountLamports, markerLamports] = await Promise.all(
    [0n, TOKEN_ACCOUNT_BYTES, TOKEN_2022_ACCOUNT_BYTES, BigInt(MARKER_BYTES)].map((bytes) =>
      rpc.getMinimumBalanceForRentExemption(bytes).send(),
    ),
  )
  if (!emptyLamports || !tokenAccountLamports || !token2022AccountLamports || !markerLamports)
    throw new Error('No rent')
  return { emptyLamports, tokenAccountLamports, token2022AccountLamports, markerLamports }
}

export function tokenAccountRent(rent: Rent, { program }: Pick<Token, 'program'>): bigint {
  return program === TOKEN_2022_PROGRAM_ADDRESS ? rent.token2022AccountLamports : rent.tokenAccountLamports
}
