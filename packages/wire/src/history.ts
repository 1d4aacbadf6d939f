import { type Static, Type } from 'typebox'
import { Address, oneOf, strictObject } from './schema.ts'
import { SWAP_STATUSES, SwapRecord } from './status.ts'

export const DEFAULT_HISTORY_LIMIT = 20

const LIMIT = `Swaps per page, 1..100. Default ${DEFAULT_HISTORY_LIMIT}.`

const Moment = (description: string) =>
  Type.String({
    pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,3})?Z$',
    description: `${description} ISO 8601 UTC.`,
  })

const filters = {
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'nextCursor of the previous page, unchanged.' }),
  ),
  wallet: Type.Optional(
    Type.Unsafe<string>({ ...Address, description: 'Only swaps that this wallet paid.' }),
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
  limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$', description: LIMIT })),
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
