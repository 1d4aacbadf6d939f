/** The operations that the faucet needs from a chain of any family. */
export type FaucetChain = {
  chainId: number
  tokens: readonly { symbol: string; address: string }[]
  /**
   * The largest gift, in the smallest unit. Without a limit one request could exhaust a token's total supply,
   * and every later one would overflow.
   */
  largestAmount: bigint
  /** The reason why this address cannot receive here, for people; undefined if it can. */
  findProblem(address: string): string | undefined
  /** Mints or sends, and returns the transaction's id once its effect is visible. */
  give(gift: { address: string; token: string; amount: bigint }): Promise<string>
}

/** A refusal by the faucet; the message is for the caller. */
export class FaucetRefusal extends Error {
  readonly status: number
  readonly code: string

  constructor(refusal: { status: number; code: string; message: string }) {
    super(refusal.message)
    this.status = refusal.status
    this.code = refusal.code
  }
}
