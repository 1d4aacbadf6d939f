import type { AccountKey } from './account-keys.ts'
import type { Outcome } from './runtime.ts'
import type { TokenBalance } from './token-balances.ts'
import type { WireTransaction } from './wire-transaction.ts'

export type Landed = Outcome & {
  transaction: WireTransaction
  slot: number
  timeSeconds: number
  keys: AccountKey[]
  fee: bigint
  preBalances: bigint[]
  postBalances: bigint[]
  preTokenBalances: TokenBalance[]
  postTokenBalances: TokenBalance[]
}
