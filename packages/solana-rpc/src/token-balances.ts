import type { Address } from '@solana/kit'
import type { Account } from './account-store.ts'
import { findMint, findTokenAccount } from './token-layout.ts'

type TokenAmount = ReturnType<typeof toTokenAmount>
export type TokenBalance = {
  accountIndex: number
  mint: Address
  owner: Address
  programId: Address
  uiTokenAmount: TokenAmount
}
type FindAccount = (address: Address) => Account | undefined

/** A token amount in the nodes' format: exact in `amount`, for people in the `ui…` fields. */
export function toTokenAmount(token: { amount: bigint; decimals: number }) {
  const { amount, decimals } = token
  const digits = amount.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  const uiAmountString = fraction === '' ? whole : `${whole}.${fraction}`
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString }
}

/** The balances of every token account in the list, in order. */
export function readTokenBalances(
  accounts: readonly (Account | undefined)[],
  find: FindAccount,
): TokenBalance[] {
  return accounts.flatMap((account, accountIndex) => {
    const token = account && findTokenAccount(account)
    if (!token) return []
    const mint = find(token.mint)
    const decimals = (mint && findMint(mint))?.decimals ?? 0
    const uiTokenAmount = toTokenAmount({ amount: token.amount, decimals })
    const { mint: mintAddress, owner } = token
    return [{ accountIndex, mint: mintAddress, owner, programId: account.owner, uiTokenAmount }]
  })
}
