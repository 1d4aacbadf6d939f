import { getBase58Decoder } from '@solana/kit'
import { Pool } from 'pg'
import { type Hex, keccak256 } from 'viem'
import { delay } from '../bench/clock.ts'

type Found = { txHash: string; isRecorded: boolean; role?: string; sender?: string }
export type WriteAheadProbe = { look(raw: string): Promise<Found>; stop(): Promise<void> }

const AGAIN_MS = 50
// Of a payment on Solana two transactions are recorded together, by the id of the second.
const RECORDED = `select role, sender from tx_attempts where tx_hash = $1 and $2 in (raw, split_part(raw, ' ', 2))
 union all select role, sender from tx_attempts where raw like '% %' and split_part(raw, ' ', 1) = $2`

/**
 * Asks the database, on its own connections, whether these bytes are on record now. While the database is
 * down nothing can commit, so its first answer afterwards is as good as an immediate one.
 */
export function createWriteAheadProbe(databaseUrl: string): WriteAheadProbe {
  const pool = new Pool({ connectionString: databaseUrl, max: 4, connectionTimeoutMillis: 2_000 })
  pool.on('error', () => {})
  pool.on('connect', (client) => void client.on('error', () => {}))
  let stopped = false

  async function look(raw: string): Promise<Found> {
    const txHash = hashOf(raw)
    for (;;) {
      const answer = await pool
        .query<{ role: string; sender: string }>({
          name: 'probe',
          text: RECORDED,
          values: [txHash, raw],
        })
        .catch(() => undefined)
      if (answer) return { txHash, isRecorded: answer.rows.length > 0, ...answer.rows[0] }
      if (stopped) throw new Error('The probe was stopped')
      await delay(AGAIN_MS)
    }
  }

  return {
    look,
    async stop() {
      stopped = true
      await pool.end()
    },
  }
}

/** On EVM chains the hash of the bytes, on Solana the first signature in them. */
function hashOf(raw: string): string {
  if (raw.startsWith('0x')) return keccak256(raw as Hex)
  return getBase58Decoder().decode(Buffer.from(raw, 'base64').subarray(1, 65))
}
