/** Values read from the chain itself, without trusting the service. */
export type Reads = {
  /** The spendable balance: on Solana that of the wallet's associated token account. */
  balanceOf(owner: string, token: string): Promise<bigint>
  decimalsOf(token: string): Promise<number>
  /** The symbol that the token's contract returns; undefined on a chain whose tokens have none. */
  symbolOf(token: string): Promise<string | undefined>
}
