// The names that clients list. This file needs no schema library, so that clients do not carry one.

/** Families of chains. */
export const ORIGIN_FAMILIES = ['evm', 'solana'] as const

/** How an input can come in on an EVM chain, the cheapest first. Sealed quotes count them: a new one comes last. */
export const ORIGIN_METHODS = ['delegation', 'authorization', 'permit', 'deposit', 'transfer'] as const
export type OriginMethod = (typeof ORIGIN_METHODS)[number]

/** Those by which the input is sent to the op's own address, and nothing is signed for it. */
export const SENT_METHODS = ['deposit', 'transfer'] as const satisfies readonly OriginMethod[]
type SentMethod = (typeof SENT_METHODS)[number]
export const SIGNED_METHODS = ORIGIN_METHODS.filter((method) => !isSentMethod(method))

export function isSentMethod(method: OriginMethod): method is SentMethod {
  return SENT_METHODS.some((sent) => sent === method)
}

export const SWAP_STATUSES = ['pending', 'settled', 'failed', 'refunded'] as const
export type SwapStatus = (typeof SWAP_STATUSES)[number]
export type TerminalStatus = Exclude<SwapStatus, 'pending'>
export const TERMINAL_STATUSES = SWAP_STATUSES.filter(isTerminalStatus)

export function isTerminalStatus(status: SwapStatus): status is TerminalStatus {
  return status !== 'pending'
}

export const SUBSTATUSES = [
  'awaitingDeposit',
  'accepted',
  'locking',
  'locked',
  'delivering',
  'delivered',
  'refunding',
  'refundBlocked',
  'refunded',
  'failed',
] as const
export type Substatus = (typeof SUBSTATUSES)[number]

/** A pending swap is named by its substatus, an ended one by its status. */
export const WEBHOOK_TYPES = [
  'swap.awaitingDeposit',
  'swap.accepted',
  'swap.locking',
  'swap.locked',
  'swap.delivering',
  'swap.settled',
  'swap.refunding',
  'swap.refundBlocked',
  'swap.refunded',
  'swap.failed',
] as const
export type WebhookType = (typeof WEBHOOK_TYPES)[number]
