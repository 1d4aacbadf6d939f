import { type Static, Type } from 'typebox'
import { expecting } from './expected.ts'
import { SUBSTATUSES, SWAP_STATUSES, WEBHOOK_TYPES } from './names.ts'
import { Speed } from './quote.ts'
import { Address, ChainId, caip, ExternalId, InputMethod, oneOf, strictObject, Time } from './schema.ts'

export const SwapStatusName = oneOf(SWAP_STATUSES)

/** Why a swap ended `failed`: the input was not taken and never can be. */
export const FAILURE_CODES = [
  'INVALID_AUTHORIZATION',
  'INPUT_UNAVAILABLE',
  'OPERATION_EXPIRED',
  'RECIPIENT_INVALID',
  'PRICE_MOVED',
  'DESTINATION_UNAVAILABLE',
  'DEPOSIT_MISSING',
  'DEPOSIT_TOO_SMALL',
  'ADDRESS_BLOCKED',
] as const
export type FailureCode = (typeof FAILURE_CODES)[number]

/** Why a locked input was refunded. */
export const REFUND_REASONS = [
  'NO_LIQUIDITY',
  'PRICE_MOVED',
  'RECIPIENT_INVALID',
  'DESTINATION_UNAVAILABLE',
  'DELIVERY_EXPIRED',
  'ADDRESS_BLOCKED',
] as const
export type RefundReason = (typeof REFUND_REASONS)[number]

const WAIT = 'How long to hold the read, 0..15 seconds, up to three decimals. Default 15.'

export const StatusQuery = strictObject({
  wait: Type.Optional(Type.Number({ minimum: 0, maximum: 15, description: WAIT })),
})

/** The query as it arrives in the URL. */
export const StatusQueryText = strictObject({
  wait: Type.Optional(
    Type.String({
      pattern: '^(15(\\.0{1,3})?|(1[0-4]|[0-9])(\\.[0-9]{1,3})?)$',
      description: WAIT,
      ...expecting('a number of seconds from 0 to 15 with up to three decimals, such as 2.5'),
    }),
  ),
})
export type StatusQueryText = Static<typeof StatusQueryText>

export const TimelineEntry = Type.Object({
  stage: Type.String(),
  at: Time,
  chainId: Type.Optional(ChainId),
  txHash: Type.Optional(Type.String()),
})
export type TimelineEntry = Static<typeof TimelineEntry>

export const Failure = Type.Object({ code: oneOf(FAILURE_CODES), message: Type.String() })
export type Failure = Static<typeof Failure>

export const Refund = Type.Object({
  reason: oneOf(REFUND_REASONS),
  amount: Type.String(),
  token: Type.String(),
  txHash: Type.Optional(Type.String()),
  credited: Type.Optional(
    Type.Boolean({ description: 'True when the wallet can withdraw the refund from the escrow itself.' }),
  ),
})
export type Refund = Static<typeof Refund>

export const Deposit = Type.Object({
  address: Type.String({ description: 'The address of the operation.' }),
  until: Type.Optional(
    Type.Unsafe<string>({ ...Time, description: 'A transfer that comes later goes back to the wallet.' }),
  ),
  received: Type.Optional(
    Type.String({ description: 'Amount of the input token at the address when last read.' }),
  ),
  txHash: Type.Optional(
    Type.String({ description: 'The last transfer to it; absent if a contract sent native coin.' }),
  ),
  returned: Type.Optional(
    Type.Array(Type.Object({ token: Type.String(), amount: Type.String(), txHash: Type.String() }), {
      description: 'Sent back to the wallet: too little, too much, too late, or another token.',
    }),
  ),
  next: Type.Optional(
    Type.String({ description: 'In words: what to send, or what happens to a deposit that is not swapped.' }),
  ),
})
export type Deposit = Static<typeof Deposit>

/** The reasons for which a pending swap waits longer than usual. */
export const WAITING_REASONS = ['lateLock', 'lateDelivery', 'finality'] as const
export type WaitingReason = (typeof WAITING_REASONS)[number]

export const Waiting = Type.Object(
  {
    reason: oneOf(WAITING_REASONS),
    until: Type.Unsafe<string>({ ...Time, description: 'When that block is expected to be final.' }),
  },
  {
    description:
      'Only while the input or the output is in a block so close to its deadline that a reorg could undo it for ' +
      'good, or while a swap that was quoted as fast finds no room (finality): it goes on when that block is final.',
  },
)
export type Waiting = Static<typeof Waiting>

export const SwapAmounts = Type.Object({
  input: Type.String(),
  quotedOutput: Type.String(),
  minOutput: Type.String(),
  delivered: Type.Optional(Type.String()),
  repriced: Type.Optional(
    Type.Object(
      { output: Type.String(), reason: Type.Literal('PRICE_MOVED') },
      {
        description:
          'The market moved since the quote: `output` is paid, between `minOutput` and `quotedOutput`.',
      },
    ),
  ),
  riskPremium: Type.Optional(
    Type.Object(
      { amount: Type.String(), returned: Type.Boolean(), output: Type.Optional(Type.String()) },
      {
        description:
          'Of a swap quoted as fast, in the input token. Returned: the swap waits or waited until its input was ' +
          'final, and `output` is paid, the premium included.',
      },
    ),
  ),
})

export const StatusReply = Type.Object({
  swapId: Type.String(),
  status: SwapStatusName,
  substatus: oneOf(SUBSTATUSES),
  externalId: Type.Optional(ExternalId),
  originTxHash: Type.Optional(Type.String({ description: 'Present once known.' })),
  deliveryTxHash: Type.Optional(Type.String({ description: 'Present once known.' })),
  createdAt: Time,
  updatedAt: Time,
  originChain: ChainId,
  destinationChain: ChainId,
  caip: caip('originChain', 'destinationChain'),
  amounts: SwapAmounts,
  timeline: Type.Array(TimelineEntry),
  failure: Type.Optional(Failure),
  refund: Type.Optional(Refund),
  waiting: Type.Optional(Waiting),
  method: Type.Optional(InputMethod),
  speed: Type.Optional(
    Type.Unsafe<Speed>({ ...Speed, description: 'Of a swap quoted as fast: final once it has to wait.' }),
  ),
  deposit: Type.Optional(Deposit),
})
export type StatusReply = Static<typeof StatusReply>

const EVENT_ID = {
  pattern: '^[0-9]{1,9}$',
  ...expecting('the id of an event, a whole number of up to 9 digits, such as 4'),
}

const LAST_EVENT = 'Start after this event; for clients that cannot set the header Last-Event-ID.'

export const EventsQuery = strictObject({
  lastEventId: Type.Optional(Type.Integer({ minimum: 0, maximum: 999_999_999, description: LAST_EVENT })),
})

/** The query as it arrives in the URL. */
export const EventsQueryText = strictObject({
  lastEventId: Type.Optional(Type.String({ ...EVENT_ID, description: LAST_EVENT })),
})
export type EventsQueryText = Static<typeof EventsQueryText>

/**
 * Takes precedence over the query: a client that reconnects by itself sends the header and keeps its first
 * URL.
 */
export const EventsHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({
      ...EVENT_ID,
      description: 'Start after this event. Takes precedence over the query.',
    }),
  ),
})
export type EventsHeaders = Static<typeof EventsHeaders>

export const EventsReply = Type.String({
  description:
    'Server-sent events: `id` counts the changes of this swap from 1, `data` is the status reply of that ' +
    'moment, on one line. Comments keep the connection alive. Ends after the event with a terminal status.',
})
export type EventsReply = Static<typeof EventsReply>

/** A swap in history and webhooks: its status and its request. */
export const SwapRecord = Type.Object({
  ...StatusReply.properties,
  caip: caip('originChain', 'destinationChain', 'walletAddress', 'recipient', 'inputToken', 'outputToken'),
  walletAddress: Type.String(),
  recipient: Type.String(),
  inputToken: Type.String(),
  outputToken: Type.String(),
})
export type SwapRecord = Static<typeof SwapRecord>

export const DEFAULT_HISTORY_LIMIT = 20

const LIMIT = `Swaps per page, 1..100. Default ${DEFAULT_HISTORY_LIMIT}.`

const Moment = (description: string) =>
  Type.String({
    pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,3})?Z$',
    description: `${description} ISO 8601 UTC.`,
    ...expecting('a time in UTC, such as 2026-01-02T03:04:05Z'),
  })

const filters = {
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'nextCursor of the previous page, unchanged.',
      ...expecting('the nextCursor of the previous page, unchanged'),
    }),
  ),
  wallet: Type.Optional(
    Type.Unsafe<string>({ ...Address, description: 'Only swaps that this wallet paid.' }),
  ),
  externalId: Type.Optional(
    Type.Unsafe<string>({ ...ExternalId, description: 'Only swaps whose quote had this externalId.' }),
  ),
  status: Type.Optional(oneOf(SWAP_STATUSES, { description: 'Only swaps that have this status now.' })),
  from: Type.Optional(Moment('Only swaps created at this time or later.')),
  to: Type.Optional(Moment('Only swaps created before this time.')),
}

/** The query as clients pass it. On the wire `limit` is text: see HistoryQueryText. */
export const HistoryQuery = strictObject({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: LIMIT })),
  ...filters,
})
export type HistoryQuery = Static<typeof HistoryQuery>

export const HistoryQueryText = strictObject({
  limit: Type.Optional(
    Type.String({
      pattern: '^([1-9][0-9]?|100)$',
      description: LIMIT,
      ...expecting('a whole number from 1 to 100, such as 20'),
    }),
  ),
  ...filters,
})
export type HistoryQueryText = Static<typeof HistoryQueryText>

export const HistoryReply = Type.Object({
  swaps: Type.Array(SwapRecord, { description: 'Newest first.' }),
  nextCursor: Type.Optional(
    Type.String({ description: 'The cursor of older swaps. Absent if there are none.' }),
  ),
})
export type HistoryReply = Static<typeof HistoryReply>

/** The body posted to an endpoint, in the format of Standard Webhooks. */
export const WebhookEvent = Type.Object({
  type: oneOf(WEBHOOK_TYPES),
  timestamp: Type.Unsafe<string>({
    ...Time,
    description: 'The time of the event; the header has the time of this attempt.',
  }),
  sequence: Type.Integer({
    minimum: 1,
    description: 'Counts the changes of this swap: an event with a lower number than the last one is older.',
  }),
  data: SwapRecord,
})
export type WebhookEvent = Static<typeof WebhookEvent>
