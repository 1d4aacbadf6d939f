import { readAccounts, toTokenAccountAddress } from './accounts.ts'
import type { SolanaClient } from './client.ts'
import { isNative, type Token } from './mint.ts'
import type { Rent } from './rent.ts'
import { type RawAccount, SYSTEM_PROGRAM, toTokenAccount } from './token-layout.ts'

export type SolanaWallet = {
  /** What it can pay from; 0 where its associated token account is missing or no longer its own. */
  balance: bigint
  lamports: bigint
  /** Absent for the native coin. */
  tokenAccount?: string
  frozen?: boolean
  /** Of the native coin: what must stay behind unless all of it goes. */
  floor: bigint
}

type Query = { wallet: string; token: Pick<Token, 'mint' | 'program'>; rent: Rent }

export async function readWallet(
  client: SolanaClient,
  { wallet, token, rent }: Query,
): Promise<SolanaWallet> {
  if (isNative(token)) {
    const [account] = await readAccounts(client, { addresses: [wallet] })
    return toNativeWallet(account, rent)
  }
  const tokenAccount = await toTokenAccountAddress({ owner: wallet, ...token })
  const [account, held] = await readAccounts(client, { addresses: [wallet, tokenAccount] })
  const tokens = held?.owner === token.program ? toTokenAccount(held) : undefined
  const isOwn = tokens?.owner === wallet && tokens.mint === token.mint
  return {
    balance: isOwn ? tokens.amount : 0n,
    lamports: account?.lamports ?? 0n,
    tokenAccount,
    frozen: tokens?.frozen ?? false,
    floor: 0n,
  }
}

/** The System program moves lamports only out of accounts of its own that hold no data. */
function toNativeWallet(account: RawAccount | undefined, { emptyLamports }: Rent): SolanaWallet {
  const lamports = account?.lamports ?? 0n
  const isPlain = account?.owner === SYSTEM_PROGRAM && account.data.length === 0
  return { balance: isPlain ? lamports : 0n, lamports, floor: emptyLamports }
}

export function canPay({ balance, floor, frozen }: SolanaWallet, amount: bigint): boolean {
  if (frozen || amount > balance) return false
  return amount === balance || balance - amount >= floor
}
