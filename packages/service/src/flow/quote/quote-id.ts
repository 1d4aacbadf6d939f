import { randomFillSync } from 'node:crypto'

const ID_BYTES = 16
// One system call for many ids: a call for each costs more than pricing the quote.
const pool = Buffer.alloc(ID_BYTES * 256)
let used = pool.length

/** 128 random bits, so that quote ids cannot be guessed or repeated. */
export function nextQuoteId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += ID_BYTES
  return pool.toString('base64url', used - ID_BYTES, used)
}
