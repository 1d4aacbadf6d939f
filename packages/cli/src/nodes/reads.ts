/** What is read from a chain itself, so that nobody has to be believed. */
export type Reads = {
  /** What a swap can take: on Solana what is in the wallet's associated token account. */
  balanceOf(owner: string, token: string): Promise<bigint>
  decimalsOf(token: string): Promise<number>
  /** The symbol that the token's contract returns; undefined on a chain whose tokens have none. */
  symbolOf(token: string): Promise<string | undefined>
}
