import { type Static, Type } from 'typebox'
import { oneOf, Time } from './schema.ts'
import { type StatusReply, SwapRecord } from './status.ts'

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

/** A pending swap is named by its substatus, an ended one by its status. */
export function webhookTypeOf({ status, substatus }: Pick<StatusReply, 'status' | 'substatus'>): WebhookType {
  return `swap.${status === 'pending' ? substatus : status}` as WebhookType
}

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
