import type { Address } from '@solana/kit'
import type { Account } from './account-store.ts'
import { toTokenAmount } from './token-balances.ts'
import { toExtensionJson } from './token-extensions.ts'
import {
  findMint,
  findTokenAccount,
  isTokenProgram,
  type Mint,
  readExtensions,
  TOKEN_2022_PROGRAM,
  type TokenAccount,
} from './token-layout.ts'

type FindAccount = (address: Address) => Account | undefined

/** The `jsonParsed` form of a token account or mint. Undefined for anything else, which stays binary. */
export function findParsedToken(account: Account, find: FindAccount) {
  if (!isTokenProgram(account.owner)) return undefined
  const parsed = parseToken(account, find)
  if (!parsed) return undefined
  const program = account.owner === TOKEN_2022_PROGRAM ? 'spl-token-2022' : 'spl-token'
  return { program, parsed, space: account.data.length }
}

function parseToken(account: Account, find: FindAccount) {
  const kinds = readExtensions(account).map(toExtensionJson)
  const extensions = kinds.length > 0 ? { extensions: kinds } : {}
  const mint = findMint(account)
  if (mint) return { type: 'mint', info: { ...mintInfo(mint), ...extensions } }
  const token = findTokenAccount(account)
  if (!token) return undefined
  const held = find(token.mint)
  const decimals = (held && findMint(held))?.decimals ?? 0
  return { type: 'account', info: { ...accountInfo(token, decimals), ...extensions } }
}

function mintInfo(mint: Mint) {
  return {
    decimals: mint.decimals,
    freezeAuthority: mint.freezeAuthority ?? null,
    isInitialized: mint.isInitialized,
    mintAuthority: mint.mintAuthority ?? null,
    supply: mint.supply.toString(),
  }
}

function accountInfo(token: TokenAccount, decimals: number) {
  const { delegate, delegatedAmount, rentExemptReserve, closeAuthority } = token
  const amountOf = (amount: bigint) => toTokenAmount({ amount, decimals })
  return {
    isNative: rentExemptReserve !== undefined,
    mint: token.mint,
    owner: token.owner,
    state: token.state,
    tokenAmount: amountOf(token.amount),
    ...(closeAuthority && { closeAuthority }),
    ...(delegate && { delegate, delegatedAmount: amountOf(delegatedAmount) }),
    ...(rentExemptReserve !== undefined && { rentExemptReserve: amountOf(rentExemptReserve) }),
  }
}
