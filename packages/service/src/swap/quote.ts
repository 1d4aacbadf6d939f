import { INPUT_METHODS, type InputMethod } from '@geoswap/wire'

/** Terms of a quote that its op keeps as they are. */
export type QuotedTerms = {
  originChain: number
  destinationChain: number
  wallet: string
  recipient: string
  inputToken: string
  outputToken: string
  minOutput: bigint
  /** The input minus fee and costs: the part that the price converts to output. */
  swappable: bigint
  /** The delivering venue, and the most that leaves the vault. */
  venue: string
  payToken: string
  payAmount: bigint
  /** The part of the input that is owed to the account. */
  integratorFee: bigint
  /** Paid instead of the quoted output before the lock is final, if there is room; 0 if not quoted. */
  fastOutput: bigint
  /** The part of the input that this costs. */
  riskPremium: bigint
  /** The lowest accepted value of `swappable`, in the pay token, at lock and at delivery. */
  priceFloor: bigint
  valueCents: bigint
  /** The highest gas price of the lock and of the delivery; 0 means unbounded. */
  lockFeeBound: bigint
  deliveryFeeBound: bigint
  /** The quote charged for creating the recipient's token account. */
  createsAccount: boolean
}

/** A sealed quote: carries the terms from pricing to build. Amounts are strings inside the token. */
export type Quote = QuotedTerms & {
  id: string
  amountIn: bigint
  amountOut: bigint
  expiresAt: number
  /** The caller's own name for the swap. */
  externalId?: string | undefined
  /** The amounts by other ways than a delegation. */
  ways?: QuotedWays
}

/** All but the first, which a quote is priced by itself. Sealed quotes name them by their place. */
const METHODS: readonly InputMethod[] = INPUT_METHODS.slice(1)
export type QuotedWays = Readonly<Partial<Record<InputMethod, WayAmounts>>>
export type WayAmounts = Pick<Quote, (typeof WAY_AMOUNTS)[number]>

/** The quote with the amounts of one way; undefined if it has no such way. */
export function quoteBy(quote: Quote, method: InputMethod): Quote | undefined {
  if (!METHODS.includes(method)) return quote
  const amounts = quote.ways?.[method]
  return amounts && { ...quote, ...amounts }
}

/** Terms of an op whose quote is unknown, as far as no chain shows them. */
export const unquotedTerms = {
  swappable: 0n,
  integratorFee: 0n,
  fastOutput: 0n,
  riskPremium: 0n,
  priceFloor: 0n,
  valueCents: 0n,
  lockFeeBound: 0n,
  deliveryFeeBound: 0n,
  createsAccount: false,
} satisfies Partial<QuotedTerms>

/** The amounts of a quote, in the order of the sealed form. */
const AMOUNTS = [
  'amountIn',
  'amountOut',
  'minOutput',
  'swappable',
  'priceFloor',
  'valueCents',
  'payAmount',
  'lockFeeBound',
  'deliveryFeeBound',
  'integratorFee',
  'fastOutput',
  'riskPremium',
] as const satisfies readonly (keyof Quote)[]
type Amounts = Record<(typeof AMOUNTS)[number], bigint>
/** Those that differ by way. */
const WAY_AMOUNTS = [
  'amountIn',
  'amountOut',
  'minOutput',
  'swappable',
  'priceFloor',
  'valueCents',
  'payAmount',
  'integratorFee',
  'fastOutput',
  'riskPremium',
] as const satisfies readonly (typeof AMOUNTS)[number][]

/** The output that a quote or a way of it names. */
export const namedOutput = ({ amountOut, fastOutput }: Pick<Quote, 'amountOut' | 'fastOutput'>): bigint =>
  fastOutput > 0n ? fastOutput : amountOut

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
  /** The place of each other way, and how much its amounts are below those above. */
  ways?: readonly (readonly [number, ...string[]])[] | null,
  externalId?: string,
]

/** The sealed form is a tuple, because the token has to stay small and only the service reads it. */
export function toSealed(quote: Quote): Sealed {
  const sealed = [
    quote.id,
    [quote.originChain, quote.destinationChain],
    [quote.wallet, quote.recipient],
    [quote.inputToken, quote.outputToken],
    AMOUNTS.map((field) => quote[field].toString()),
    quote.expiresAt,
    quote.createsAccount ? 1 : 0,
    quote.venue,
    quote.payToken,
  ] as const
  const ways = quote.ways && toSealedWays(quote, quote.ways)
  if (quote.externalId !== undefined) return [...sealed, ways ?? null, quote.externalId]
  return ways ? [...sealed, ways] : sealed
}

function toSealedWays(quote: Quote, ways: QuotedWays) {
  return METHODS.flatMap((method, place): [number, ...string[]][] => {
    const amounts = ways[method]
    return amounts ? [[place, ...WAY_AMOUNTS.map((field) => String(quote[field] - amounts[field]))]] : []
  })
}

function fromSealedWays(base: Amounts, sealed: NonNullable<Sealed[9]>): QuotedWays {
  const entries = sealed.map(([place, ...less]) => {
    const amounts = WAY_AMOUNTS.map((field, at) => [field, base[field] - BigInt(less[at] ?? 0)])
    return [METHODS[place], Object.fromEntries(amounts)]
  })
  return Object.fromEntries(entries)
}

export function fromSealed(payload: unknown): Quote {
  const [id, chains, parties, tokens, amounts, expiresAt, createsAccount, venue, payToken, ...rest] =
    payload as Sealed
  const [ways, externalId] = rest
  const byField = AMOUNTS.map((field, place) => [field, BigInt(amounts[place] ?? 0)])
  const base = Object.fromEntries(byField) as Amounts
  return {
    ...base,
    ways: ways ? fromSealedWays(base, ways) : undefined,
    id,
    externalId,
    originChain: chains[0],
    destinationChain: chains[1],
    wallet: parties[0],
    recipient: parties[1],
    inputToken: tokens[0],
    outputToken: tokens[1],
    venue,
    payToken,
    expiresAt,
    createsAccount: createsAccount === 1,
  }
}
