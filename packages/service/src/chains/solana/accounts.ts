import { findTokenAccount } from '@geoswap/solana-escrow'
import { type Address, type Commitment, getBase64Encoder } from '@solana/kit'
import { chunksOf } from '../../model/group.ts'
import type { SolanaClient } from './client.ts'
import { MAX_ACCOUNTS } from './gather.ts'
import type { RawAccount } from './token-layout.ts'

type Query = { addresses: readonly string[]; commitment?: Commitment; minContextSlot?: bigint }

type Accounts = (RawAccount | undefined)[]

/** Reads accounts in the order of the addresses, undefined for a missing one. Up to 100 are of one slot. */
export async function readAccounts(client: Pick<SolanaClient, 'rpc'>, query: Query): Promise<Accounts> {
  return (await readAccountsAt(client, query)).accounts
}

/** The same, with the oldest slot that they were read at. */
export async function readAccountsAt(
  { rpc }: Pick<SolanaClient, 'rpc'>,
  { addresses, commitment = 'confirmed', minContextSlot }: Query,
): Promise<{ accounts: Accounts; slot: bigint }> {
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
  const accounts = answers.flatMap(({ value }) =>
    value.map((account) => {
      if (!account) return undefined
      const { owner, lamports, executable, data } = account
      return { owner, lamports, executable, data: getBase64Encoder().encode(data[0]) }
    }),
  )
  const slots = answers.map(({ context }) => context.slot)
  return { accounts, slot: slots.reduce((least, slot) => (slot < least ? slot : least), slots[0] ?? 0n) }
}

/** The owner's associated token account for a mint, whose address depends on the mint's token program. */
export async function toTokenAccountAddress(holder: {
  owner: string
  mint: string
  program: string
}): Promise<string> {
  const [mint, program] = [holder.mint as Address, holder.program as Address]
  return findTokenAccount(holder.owner as Address, { mint, program })
}
