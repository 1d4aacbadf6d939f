/** A sealed quote: carries the terms from pricing to build. Amounts are strings inside the token. */
export type Quote = {
  id: string
  originChain: number
  destinationChain: number
  wallet: string
  recipient: string
  inputToken: string
  outputToken: string
  amountIn: bigint
  amountOut: bigint
  minOutput: bigint
  /** The input minus fee and costs: the part that the price converts to output. */
  swappable: bigint
  /** The delivering venue, and the most that leaves the vault. */
  venue: string
  payToken: string
  payAmount: bigint
  /** The lowest accepted value of `swappable`, in the pay token, at lock and at delivery. */
  priceFloor: bigint
  valueCents: bigint
  /** The highest gas price of the lock and of the delivery; 0 means unbounded. */
  lockFeeBound: bigint
  deliveryFeeBound: bigint
  createsAccount: boolean
  expiresAt: number
}

type Sealed = readonly [
  id: string,
  chains: readonly [number, number],
  parties: readonly [string, string],
  tokens: readonly [string, string],
  amounts: readonly string[],
  expiresAt: number,
  createsAccount: 0 | 1,
  venue: string,
  payToken: string,
]

/** The sealed form is a tuple, because the token has to stay small and only the service reads it. */
export function toSealed(quote: Quote): Sealed {
  const amounts = [quote.amountIn, quote.amountOut, quote.minOutput, quote.swappable, quote.priceFloor]
  return [
    quote.id,
    [quote.originChain, quote.destinationChain],
    [quote.wallet, quote.recipient],
    [quote.inputToken, quote.outputToken],
    [...amounts, quote.valueCents, quote.payAmount, quote.lockFeeBound, quote.deliveryFeeBound].map(String),
    quote.expiresAt,
    quote.createsAccount ? 1 : 0,
    quote.venue,
    quote.payToken,
  ]
}

export function fromSealed(payload: unknown): Quote {
  const [id, chains, parties, tokens, amounts, expiresAt, createsAccount, venue, payToken] = payload as Sealed
  const amount = (i: number) => BigInt(amounts[i] ?? 0)
  return {
    id,
    originChain: chains[0],
    destinationChain: chains[1],
    wallet: parties[0],
    recipient: parties[1],
    inputToken: tokens[0],
    outputToken: tokens[1],
    amountIn: amount(0),
    amountOut: amount(1),
    minOutput: amount(2),
    swappable: amount(3),
    priceFloor: amount(4),
    valueCents: amount(5),
    payAmount: amount(6),
    lockFeeBound: amount(7),
    deliveryFeeBound: amount(8),
    venue,
    payToken,
    expiresAt,
    createsAccount: createsAccount === 1,
  }
}
