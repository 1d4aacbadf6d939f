import { type Address, type Commitment, getBase64Encoder } from '@solana/kit'
import { findAssociatedTokenPda } from '@solana-program/token'
import { chunksOf } from '../../model/group.ts'
import type { SolanaClient } from './client.ts'
import type { RawAccount } from './token-layout.ts'

type Query = { addresses: readonly string[]; commitment?: Commitment; minContextSlot?: bigint }

// Agave's MAX_MULTIPLE_ACCOUNTS.
const MAX_ACCOUNTS = 100

/** Reads accounts in the order of the addresses, undefined for a missing one. Up to 100 are of one slot. */
export async function readAccounts(
  { rpc }: Pick<SolanaClient, 'rpc'>,
  { addresses, commitment = 'confirmed', minContextSlot }: Query,
): Promise<(RawAccount | undefined)[]> {
  const options = {
    encoding: 'base64',
    commitment,
    ...(minContextSlot !== undefined && { minContextSlot }),
  } as const
  const answers = await Promise.all(
    chunksOf(addresses, MAX_ACCOUNTS).map((some) =>
      rpc.getMultipleAccounts(some as Address[], options).send(),
    ),
  )
  return answers.flatMap(({ value }) =>
    value.map((account) => {
      if (!account) return undefined
      const { owner, lamports, executable, data } = account
      return { owner, lamports, executable, data: getBase64Encoder().encode(data[0]) }
    }),
  )
}

/** The owner's associated token account for a mint, whose address depends on the mint's token program. */
export async function toTokenAccountAddress(holder: {
  owner: string
  mint: string
  program: string
}): Promise<string> {
  const [address] = await findAssociatedTokenPda({
    owner: holder.owner as Address,
    mint: holder.mint as Address,
    tokenProgram: holder.program as Address,
  })
  return address
}
