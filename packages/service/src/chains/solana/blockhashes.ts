import type { SolanaClients } from './client.ts'
import { type Lifetime, readBlockhash } from './heads.ts'

export type Blockhashes = {
  /** Notes the blockhash of a head that this process has just read. */
  note(lifetime: Lifetime | undefined): void
  /** A blockhash to sign with, some blocks old: of the last head, or from a node if this process reads no heads. */
  recent(): Promise<Lifetime>
}

// Five of the 150 blocks for which a blockhash is valid.
const RECENT_MS = 2_000

export function createBlockhashes(client: SolanaClients, now = () => performance.now()): Blockhashes {
  let known: { at: number; lifetime: Promise<Lifetime> } | undefined
  const keep = (lifetime: Promise<Lifetime>) => {
    const mine = { at: now(), lifetime }
    known = mine
    lifetime.catch(() => {
      if (known === mine) known = undefined
    })
    return lifetime
  }
  return {
    note(lifetime) {
      if (lifetime) void keep(Promise.resolve(lifetime))
    },
    recent: () => (known && now() - known.at < RECENT_MS ? known.lifetime : keep(readBlockhash(client))),
  }
}
