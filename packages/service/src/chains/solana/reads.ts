import type { Commitment, Signature } from '@solana/kit'
import { chunksOf } from '../../swap/group.ts'
import {
  isNative,
  type RawAccount,
  readAccounts,
  type Token,
  toTokenAccount,
  toTokenAccountAddress,
} from './accounts.ts'
import type { SolanaClient } from './client.ts'

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
  const addresses = await Promise.all(tokens.map((token) => holdingAccount(owner, token)))
  const accounts = await readAccounts(client, { addresses, ...at })
  return new Map(tokens.map((token, index) => [token.mint, heldIn(accounts[index], owner, token)]))
}

/** The account that holds an owner's balance of a token: for the native coin, the owner's own. */
export async function holdingAccount(owner: string, { mint, program }: Token): Promise<string> {
  return isNative({ mint }) ? owner : toTokenAccountAddress({ owner, mint, program })
}

/** The balance of a token in its holding account; 0 if that is missing, frozen or of another owner. */
export function heldIn(account: RawAccount | undefined, owner: string, token: Token): bigint {
  if (!account) return 0n
  if (isNative(token)) return account.lamports
  const held = toTokenAccount(account)
  return held?.owner === owner && !held.frozen ? held.amount : 0n
}
