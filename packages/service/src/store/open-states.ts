/** An open swap, in exactly the words of the index `swaps_open`: PostgreSQL would not use the index otherwise. */
export const IS_OPEN = `state not in ('closed', 'refunded', 'failed')`
