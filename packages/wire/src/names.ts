// The names that clients list. This file needs no schema library, so that clients do not carry one.

/** How an input can come in on an EVM chain. Sealed quotes name one by its place: a new one comes last. */
export const INPUT_METHODS = [
  'delegation',
  'authorization',
  'permit',
  'deposit',
  'transfer',
  'payment',
] as const
export type InputMethod = (typeof INPUT_METHODS)[number]

/** Those that the caller of build chooses from, the cheapest first: all but the payment of a request. */
export const ORIGIN_METHODS = [
  'delegation',
  'authorization',
  'permit',
  'deposit',
  'transfer',
] as const satisfies readonly InputMethod[]
export type OriginMethod = (typeof ORIGIN_METHODS)[number]

/** Those by which the input is sent to the op's own address, and nothing is signed for it. */
export const SENT_METHODS = ['deposit', 'transfer'] as const satisfies readonly OriginMethod[]
type SentMethod = (typeof SENT_METHODS)[number]
export const SIGNED_METHODS = ORIGIN_METHODS.filter((method) => !isSentMethod(method))

export function isSentMethod(method: InputMethod): method is SentMethod {
  return SENT_METHODS.some((sent) => sent === method)
}

/** Classes of calls, each with a rate of its own. */
export const RATE_CLASSES = ['quote', 'build', 'submit', 'delegation', 'status', 'other'] as const
export type RateClass = (typeof RATE_CLASSES)[number]

export const SWAP_STATUSES = ['pending', 'settled', 'failed', 'refunded'] as const
export type SwapStatus = (typeof SWAP_STATUSES)[number]
export type TerminalStatus = Exclude<SwapStatus, 'pending'>
export const TERMINAL_STATUSES = SWAP_STATUSES.filter(isTerminalStatus)

export function isTerminalStatus(status: SwapStatus): status is TerminalStatus {
  return status !== 'pending'
}

/** The ends other than `settled`: the input is in the wallet, or was sent and comes back from the op's address. */
export const UNSETTLED_STATUSES = TERMINAL_STATUSES.filter((status) => status !== 'settled')

/** Each substatus with its status. */
export const STATUS_OF = {
  awaitingDeposit: 'pending',
  accepted: 'pending',
  locking: 'pending',
  locked: 'pending',
  delivering: 'pending',
  delivered: 'settled',
  refunding: 'pending',
  refundBlocked: 'pending',
  refunded: 'refunded',
  failed: 'failed',
} as const satisfies Record<string, SwapStatus>
type StatusOf = typeof STATUS_OF
export type Substatus = keyof StatusOf
export const SUBSTATUSES = Object.keys(STATUS_OF) as Substatus[]

/** A pending swap is named by its substatus, an ended one by its status. */
export type WebhookType = {
  [Each in Substatus]: `swap.${StatusOf[Each] extends 'pending' ? Each : StatusOf[Each]}`
}[Substatus]
export const WEBHOOK_TYPES = SUBSTATUSES.map((substatus) =>
  webhookTypeOf({ status: STATUS_OF[substatus], substatus }),
)

export function webhookTypeOf(swap: { status: SwapStatus; substatus: Substatus }): WebhookType {
  return `swap.${swap.status === 'pending' ? swap.substatus : swap.status}` as WebhookType
}

/** In words: `settled, failed or refunded`. */
export function anyOf(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
}
