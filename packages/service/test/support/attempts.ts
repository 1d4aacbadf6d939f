import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import type { Role } from '../../src/store/attempts.ts'
import type { TestSwap } from './swaps.ts'

/** Inserts a signed transaction of this swap as recorded before its broadcast. Returns its id. */
export async function insertTestAttempt(
  pool: Pool,
  { swapId }: TestSwap,
  role: Role,
  {
    sender,
    replacement = 0,
    chainId = 31337,
  }: { sender?: string; replacement?: number; chainId?: number } = {},
): Promise<string> {
  const name = randomBytes(8).toString('hex')
  const { rows } = await pool.query<{ id: string }>(
    `with added as (
       insert into tx_attempts (chain_id, sender, nonce, role, tx_hash, raw, effect_hash, request, replacement)
       values ($6, $4, 0, $2, $1, '0x', '0x', '{"sentAtBlock": "0"}', $5) returning id
     ), linked as (
       insert into attempt_swaps (attempt_id, swap_id, role) select id, $3, $2 from added
     )
     select id from added`,
    [name, role, swapId, sender ?? name, replacement, chainId],
  )
  if (!rows[0]) throw new Error('The attempt was not stored')
  return rows[0].id
}
