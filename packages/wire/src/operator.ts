import { type Static, Type } from 'typebox'
import { FAMILIES } from './caip.ts'
import { expecting } from './expected.ts'
import { TERMINAL_STATUSES, type TerminalStatus } from './names.ts'
import { Amount, ChainId, oneOf, strictObject, Time, Token } from './schema.ts'

// The operator API. It has its own listener and keys, and is not part of the public interface.

const Text = Type.String()
const Seconds = Type.Number({ minimum: 0 })
const Count = Type.Integer({ minimum: 0 })
const Cents = Type.String({ pattern: '^[0-9]+$', description: 'USD cents, as a decimal string.' })
/** The balance of an account in the books may be negative. */
const Balance = Type.String({ pattern: '^-?[0-9]+$' })
const Price = Type.String({ description: 'USD for one whole unit, every digit.' })

const unit = { symbol: Text, decimals: Count }
const tokenOnChain = { chainId: ChainId, token: Token, ...unit }

export const OperatorChain = strictObject({
  chainId: ChainId,
  name: Text,
  family: oneOf(FAMILIES),
  isLive: Type.Boolean({ description: 'Its nodes answer, agree and advance.' }),
  nodes: Count,
  block: Type.Optional(Text),
  finalitySeconds: Type.Unsafe<number>({
    ...Seconds,
    description: 'How long finality may take, as configured.',
  }),
  measuredFinalitySeconds: Type.Optional(
    Type.Unsafe<number>({ ...Seconds, description: 'How long it takes, as measured. Absent before that.' }),
  ),
  attesterChangeAt: Type.Optional(
    Type.Unsafe<string>({
      ...Time,
      description:
        'Present while a change of attesters is pending: the first refund deadline that the new ones can decide.',
    }),
  ),
  closed: Type.Optional(
    Type.Array(strictObject({ token: Token, symbol: Text, why: Text }), {
      description: 'Tokens in no new swap: the chain tells something else of them than the configuration.',
    }),
  ),
  exposedCents: Cents,
  lostCents: Type.Unsafe<string>({
    ...Cents,
    description: 'The part of lost inputs: a reorg undid the lock, or the claim came too late.',
  }),
  exposureCapCents: Cents,
  unclaimedCents: Type.Unsafe<string>({
    ...Cents,
    description: 'Outputs delivered whose inputs on this chain are not finally claimed.',
  }),
  unclaimedCapCents: Cents,
})

export const OperatorHolding = strictObject({
  ...tokenOnChain,
  asset: Text,
  held: Amount,
  reserved: Amount,
  isBought: Type.Boolean({ description: 'A venue buys the token from a pool if none is held.' }),
  heldCents: Type.Optional(Cents),
  dailyNeed: Type.Unsafe<string>({
    ...Amount,
    description: 'The need of one day, estimated from the last three.',
  }),
})

export const OperatorSender = strictObject({
  chainId: ChainId,
  address: Text,
  role: oneOf(['relay', 'authorize', 'deliver']),
  isRetiring: Type.Boolean(),
  isLow: Type.Boolean({ description: 'The gas coin balance is below the low threshold.' }),
  ...unit,
  balance: Type.Optional(
    Type.Unsafe<string>({ ...Amount, description: 'Absent until a node has reported it.' }),
  ),
})

/** The account that tops up senders that are low on gas. */
export const OperatorGasFloat = strictObject({ chain: Text, address: Text, topUpsLeft: Count })

export const OperatorSwaps = strictObject({
  open: Type.Array(strictObject({ state: Text, count: Count, oldestSeconds: Seconds })),
  claimMarginUsed: Type.Number({
    description:
      'Used part of the time to claim, of the most urgent swap: at 1 anyone can refund its input, already paid for.',
  }),
  unsigned: Type.Integer({
    minimum: 0,
    description: 'Stored terms that differ from the signed operation: they are not acted on.',
  }),
  quarantined: Type.Integer({
    minimum: 0,
    description: 'Swaps, events and accounts that failed three times and were set aside.',
  }),
  ended: Type.Array(strictObject({ status: oneOf(TERMINAL_STATUSES), reason: Text, count: Count }), {
    description: 'In the last hour.',
  }),
})

export const OperatorPrice = strictObject({
  asset: Text,
  price: Type.Optional(Price),
  feeds: Type.Array(strictObject({ feed: Text, price: Type.Optional(Price), problem: Type.Optional(Text) })),
})

export const OperatorBooks = strictObject({
  chains: Type.Array(strictObject({ chainId: ChainId, ageSeconds: Seconds })),
  balances: Type.Array(
    strictObject({
      ...tokenOnChain,
      locked: Balance,
      owed: Balance,
      inventory: Balance,
      unexplained: Balance,
    }),
  ),
})

const Usd = Type.String({ pattern: '^-?[0-9]+$', description: 'Millionths of a USD, as a decimal string.' })
const Day = Type.String({ description: 'A day (UTC), such as 2026-11-17.' })

/** Ended swaps of today and yesterday by route, and the gas that their transactions cost. */
export const OperatorEarnings = strictObject({
  routes: Type.Array(
    strictObject({
      day: Day,
      originChain: ChainId,
      destinationChain: ChainId,
      inputToken: Token,
      outputToken: Token,
      settled: Count,
      refunded: Count,
      volumeCents: Cents,
      earned: Usd,
      network: Usd,
      profit: Usd,
    }),
  ),
  gas: Type.Array(
    strictObject({
      day: Day,
      chainId: ChainId,
      ...unit,
      amount: Amount,
      usd: Usd,
      rent: Type.Unsafe<string>({ ...Amount, description: 'The part in token accounts of recipients.' }),
    }),
  ),
})

const Side = strictObject({ chainId: ChainId, token: Token })
const part = {
  chainId: Type.Optional(ChainId),
  asset: Type.Optional(Type.String({ minLength: 1, ...expecting('a served asset, such as "USDC"') })),
}

export const OperatorStop = strictObject({
  id: Text,
  why: oneOf(['operator', 'drift']),
  scope: strictObject({ ...part, from: Type.Optional(Side), to: Type.Optional(Side) }),
  what: Type.String({ description: 'The scope in words.' }),
  note: Text,
  by: Text,
  since: Time,
})

export const OperatorAlarm = strictObject({
  name: Type.String({ description: 'The name in deploy/alerts.yaml.' }),
  severity: oneOf(['page', 'ticket']),
  summary: Text,
})

export const OperatorOverview = strictObject({
  at: Time,
  network: Text,
  alarms: Type.Array(OperatorAlarm),
  chains: Type.Array(OperatorChain),
  assets: Type.Array(Text),
  inventory: Type.Array(OperatorHolding),
  senders: Type.Array(OperatorSender),
  gasFloats: Type.Array(OperatorGasFloat),
  lanesHeld: Type.Integer({ minimum: 0, description: 'Lanes held by a worker; at 0 nothing is processed.' }),
  swaps: OperatorSwaps,
  prices: Type.Array(OperatorPrice),
  books: OperatorBooks,
  earnings: OperatorEarnings,
  stops: Type.Array(OperatorStop),
  webhooks: strictObject({ failing: Count, disabled: Count }),
})

export const OPERATOR_HOURS = ['1', '6', '24', '72'] as const

export const OperatorSeriesQuery = strictObject({ hours: Type.Optional(oneOf(OPERATOR_HOURS)) })

const counts = Object.fromEntries(TERMINAL_STATUSES.map((status) => [status, Count]))

export const OperatorBucket = strictObject({
  at: Time,
  ...(counts as Record<TerminalStatus, typeof Count>),
  volumeCents: Cents,
  p50: Type.Optional(Seconds),
  p95: Type.Optional(Seconds),
  p99: Type.Optional(Seconds),
})

export const OperatorSeries = strictObject({
  hours: Count,
  bucketSeconds: Count,
  buckets: Type.Array(OperatorBucket),
})

const Note = Type.String({
  minLength: 1,
  maxLength: 500,
  // Not blank, and without NUL, which the database cannot store.
  pattern: '^(?=[\\s\\S]*\\S)[^\\0]*$',
  ...expecting('a reason in at most 500 characters, such as "maintenance of the nodes"'),
  description: 'The reason, for those who read it later.',
})

export const OperatorPause = strictObject({
  scope: strictObject(part, { description: 'Without a chain: every chain. Without an asset: every asset.' }),
  note: Note,
})
export const OperatorResume = strictObject({ note: Note })
export const OperatorStopReply = strictObject({ id: Text, isNew: Type.Boolean() })
export const OperatorResumeReply = strictObject({ id: Text })

export type OperatorChain = Static<typeof OperatorChain>
export type OperatorHolding = Static<typeof OperatorHolding>
export type OperatorSender = Static<typeof OperatorSender>
export type OperatorPrice = Static<typeof OperatorPrice>
export type OperatorBooks = Static<typeof OperatorBooks>
export type OperatorEarnings = Static<typeof OperatorEarnings>
export type OperatorStop = Static<typeof OperatorStop>
export type OperatorAlarm = Static<typeof OperatorAlarm>
export type OperatorOverview = Static<typeof OperatorOverview>
export type OperatorBucket = Static<typeof OperatorBucket>
export type OperatorSeries = Static<typeof OperatorSeries>
export type OperatorPause = Static<typeof OperatorPause>
export type OperatorResume = Static<typeof OperatorResume>
export type OperatorHours = (typeof OPERATOR_HOURS)[number]
