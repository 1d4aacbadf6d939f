/** What the faucet needs from a chain of any family. */
export type FaucetChain = {
  chainId: number
  tokens: readonly { symbol: string; address: string }[]
  /**
   * The most that one gift may be, in the smallest unit. Without a bound one request could fill a token's total
   * supply, and every later one would overflow.
   */
  largestAmount: bigint
  /** What is wrong with this address as a recipient here, said to a person; undefined when nothing is. */
  findProblem(address: string): string | undefined
  /** Mints or sends, and returns the transaction's id once its effect is visible to a reader. */
  give(gift: { address: string; token: string; amount: bigint }): Promise<string>
}

/** The faucet declines: the message is for whoever asked. */
export class FaucetRefusal extends Error {
  readonly status: number
  readonly code: string

  constructor(refusal: { status: number; code: string; message: string }) {
    super(refusal.message)
    this.status = refusal.status
    this.code = refusal.code
  }
}
