import type { Commitment, Signature } from '@solana/kit'
import { chunksOf } from '../../model/group.ts'
import { readAccounts, toTokenAccountAddress } from './accounts.ts'
import type { SolanaClient } from './client.ts'
import { isNative, type Token } from './mint.ts'
import { toTokenAccount } from './token-layout.ts'

// Agave's limit per request.
const MAX_STATUSES = 256

type SignatureStatus = { slot: bigint; failed: boolean; commitment: Commitment }

/** The landed transactions, failed ones included, by hash. A missing one proves nothing. */
export async function readSignatures(
  { rpc }: SolanaClient,
  txHashes: readonly string[],
): Promise<Map<string, SignatureStatus>> {
  const found = new Map<string, SignatureStatus>()
  const read = async (some: readonly string[]) => {
    const options = { searchTransactionHistory: true }
    const { value } = await rpc.getSignatureStatuses(some as Signature[], options).send()
    value.forEach((status, index) => {
      const txHash = some[index]
      if (!status || !txHash) return
      const commitment = status.confirmationStatus ?? 'processed'
      found.set(txHash, { slot: status.slot, failed: status.err !== null, commitment })
    })
  }
  await Promise.all(chunksOf(txHashes, MAX_STATUSES).map(read))
  return found
}

type BalanceQuery = {
  owner: string
  tokens: readonly Token[]
  commitment: Commitment
  minContextSlot?: bigint
}

/** An owner's balance of each token, by mint; 0 without an account, or with one that cannot pay. */
export async function readVaultBalances(
  client: SolanaClient,
  { owner, tokens, ...at }: BalanceQuery,
): Promise<Map<string, bigint>> {
  const addresses = await Promise.all(
    tokens.map(({ mint, program }) =>
      isNative({ mint }) ? owner : toTokenAccountAddress({ owner, mint, program }),
    ),
  )
  const accounts = await readAccounts(client, { addresses, ...at })
  return new Map(
    tokens.map((token, index) => {
      const account = accounts[index]
      if (!account) return [token.mint, 0n]
      if (isNative(token)) return [token.mint, account.lamports]
      const held = toTokenAccount(account)
      return [token.mint, held?.owner === owner && !held.frozen ? held.amount : 0n]
    }),
  )
}
