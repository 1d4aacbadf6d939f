import type { Address, Commitment, Signature } from '@solana/kit'
import { isNative, type Token } from '../../src/chains/solana/accounts.ts'
import type { SolanaClient } from '../../src/chains/solana/client.ts'

type AmountQuery = { txHash: string; account: string; token: Pick<Token, 'mint'>; commitment?: Commitment }
type Landed = { slot: bigint; seconds: number; failed: boolean; amount: bigint }

/**
 * The change of an account's balance by a transaction (a token account, or a wallet for the native coin). Undefined if
 * the transaction is not known at the commitment; 0 if it failed.
 */
export async function readTransactionAmount(
  { rpc }: SolanaClient,
  { txHash, account, token, commitment = 'confirmed' }: AmountQuery,
): Promise<Landed | undefined> {
  const found = await rpc
    .getTransaction(txHash as Signature, {
      commitment: commitment === 'processed' ? 'confirmed' : commitment,
      encoding: 'json',
      maxSupportedTransactionVersion: 0,
    })
    .send()
  const meta = found?.meta
  if (!found || !meta) return undefined
  const at = { slot: found.slot, seconds: Number(found.blockTime ?? 0) }
  if (meta.err !== null) return { ...at, failed: true, amount: 0n }
  const index = found.transaction.message.accountKeys.indexOf(account as Address)
  if (isNative(token)) {
    const amount = index < 0 ? 0n : (meta.postBalances[index] ?? 0n) - (meta.preBalances[index] ?? 0n)
    return { ...at, failed: false, amount }
  }
  const heldIn = (balances: typeof meta.postTokenBalances) =>
    BigInt(
      balances?.find((held) => held.accountIndex === index && held.mint === token.mint)?.uiTokenAmount
        .amount ?? 0n,
    )
  return {
    ...at,
    failed: false,
    amount: heldIn(meta.postTokenBalances) - heldIn(meta.preTokenBalances),
  }
}
