import { randomFillSync } from 'node:crypto'

const ID_BYTES = 16
// One call to the system's source for many ids: a call for each costs more than pricing the quote.
const pool = Buffer.alloc(ID_BYTES * 256)
let used = pool.length

/** 128 random bits: the one thing about a quote that nobody can guess or repeat. */
export function nextQuoteId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += ID_BYTES
  return pool.toString('base64url', used - ID_BYTES, used)
}
