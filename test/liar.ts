import type { Key } from '@geoswap/devnet'
import { attestationTypes, geoOpDomain } from '@geoswap/protocol'
import pg from 'pg'
import type { Address, Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { delay } from './bench/clock.ts'

type Stolen = {
  key: Key
  /** The other attesters, in whose names it writes too. */
  others: readonly Address[]
  /** Of the attester's own login. */
  databaseUrl: string
  /** Undefined on a chain that is no EVM chain. */
  escrowOf(chainId: number): Address | undefined
}

const LOOK_MS = 100

/** A stolen key and login of an attester: says and signs whatever is wrong, about everything, until it is stopped. */
export function startLiar({ key, others, databaseUrl, escrowOf }: Stolen): { stop(): Promise<void> } {
  const account = privateKeyToAccount(key.privateKey)
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 })
  // The database may be killed meanwhile.
  pool.on('error', () => {})

  async function forge(chainId: number, op: Hex): Promise<string> {
    const escrow = escrowOf(chainId)
    if (!escrow) return 'garbage'
    const message = { op, validUntil: 2n ** 40n }
    const domain = geoOpDomain({ chainId, escrow })
    return account.signTypedData({ domain, types: attestationTypes, primaryType: 'Refund', message })
  }

  async function tell(): Promise<void> {
    const { rows } = await pool.query<{ id: string; chain_id: string; hash: Hex; swap_ids: string[] }>(
      `select a.id, a.chain_id, a.swap_ids, o.hash from attestations a join swaps s on s.id = a.swap_ids[1]
         join ops o on o.id = s.op_id where a.attempt_id is null`,
    )
    for (const { id, chain_id, hash, swap_ids } of rows) {
      const signature = await forge(Number(chain_id), hash)
      for (const [signer, text] of [
        ...[key.address, ...others].map((name) => [name, signature] as const),
        ['0x0000000000000000000000000000000000000000', 'garbage'],
      ] as const)
        await pool.query(
          `insert into attestation_signatures (attestation_id, signer, signature, unproven)
           select id, $2, $3, $4 from attestations where id = $1 on conflict do nothing`,
          [id, signer, text, swap_ids],
        )
      await pool.query(
        `insert into signed_outcomes (op_hash, outcome) values ($1, 'refund') on conflict do nothing`,
        [hash],
      )
    }
  }

  let isOver = false
  const lying = (async () => {
    while (!isOver) {
      await tell().catch(() => undefined)
      await delay(LOOK_MS)
    }
  })()
  return {
    async stop() {
      isOver = true
      await lying
      await pool.end()
    },
  }
}
