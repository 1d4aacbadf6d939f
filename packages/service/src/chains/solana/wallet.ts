import { readAccountsAt, toTokenAccountAddress } from './accounts.ts'
import type { SolanaClient } from './client.ts'
import { isNative, type Token } from './mint.ts'
import type { Rent } from './rent.ts'
import { type RawAccount, SYSTEM_PROGRAM, toTokenAccount } from './token-layout.ts'

type SolanaWallet = {
  /** The spendable balance; 0 if the associated token account is missing or no longer the wallet's. */
  balance: bigint
  lamports: bigint
  /** Absent for the native coin. */
  tokenAccount?: string
  frozen?: boolean
  /** For the native coin: the amount that must stay behind unless the whole balance is spent. */
  floor: bigint
  slot: bigint
}

type Query = { wallet: string; token: Pick<Token, 'mint' | 'program'>; rent: Rent }

export async function readWallet(
  client: SolanaClient,
  { wallet, token, rent }: Query,
): Promise<SolanaWallet> {
  if (isNative(token)) {
    const { accounts, slot } = await readAccountsAt(client, { addresses: [wallet] })
    return { ...toNativeWallet(accounts[0], rent), slot }
  }
  const tokenAccount = await toTokenAccountAddress({ owner: wallet, ...token })
  const { accounts, slot } = await readAccountsAt(client, { addresses: [wallet, tokenAccount] })
  const [account, held] = accounts
  const tokens = held?.owner === token.program ? toTokenAccount(held) : undefined
  const isOwn = tokens?.owner === wallet && tokens.mint === token.mint
  return {
    balance: isOwn ? tokens.amount : 0n,
    lamports: account?.lamports ?? 0n,
    tokenAccount,
    frozen: tokens?.frozen ?? false,
    floor: 0n,
    slot,
  }
}

/** The System program moves lamports only out of its own accounts without data. */
function toNativeWallet(account: RawAccount | undefined, { emptyLamports }: Rent) {
  const lamports = account?.lamports ?? 0n
  const isPlain = account?.owner === SYSTEM_PROGRAM && account.data.length === 0
  return { balance: isPlain ? lamports : 0n, lamports, floor: emptyLamports }
}

export function canPay({ balance, floor, frozen }: SolanaWallet, amount: bigint): boolean {
  if (frozen || amount > balance) return false
  return amount === balance || balance - amount >= floor
}
