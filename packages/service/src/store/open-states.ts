/** A swap whose story is not over, in the words of the index `swaps_open`: in others PostgreSQL would not use it. */
export const IS_OPEN = `state not in ('closed', 'refunded', 'failed')`
