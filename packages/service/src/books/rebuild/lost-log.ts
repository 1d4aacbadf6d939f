import type { Pool } from 'pg'
import type { RecoveryChain } from '../../chains/recovery.ts'
import { mapOwn } from '../../isolate.ts'
import { findUnlogged, readNextNonce } from '../../store/rebuild.ts'

type Sending = {
  config: { chainId: number; name: string }
  senders: Readonly<Record<string, readonly string[]>>
  recovery: RecoveryChain
}

/** Senders with transactions on a chain that the database does not contain. */
export async function findLost(pool: Pool, chains: readonly Sending[]): Promise<string[]> {
  const found = await mapOwn(chains, (chain) => findLostOn(pool, chain))
  return found.flat()
}

/**
 * Senders of one chain. Transactions are recorded before they are sent, so a database that lacks its own keys'
 * transactions was restored from a backup, or is new. Working with it could pay twice.
 */
export async function findLostOn(pool: Pool, { config, senders, recovery }: Sending): Promise<string[]> {
  const { chainId, name } = config
  const lost: string[] = []
  for (const address of Object.values(senders).flat()) {
    // Reads the chain first: its transactions were recorded before.
    const used = await recovery.readNextNonce?.(address)
    const isBehind =
      used === undefined
        ? await hasUnlogged(pool, { chainId, recovery }, address)
        : used > (await readNextNonce(pool, { chainId, address }))
    if (isBehind) lost.push(`${address} on ${name}`)
  }
  return lost
}

type Named = { chainId: number; recovery: RecoveryChain }

async function hasUnlogged(pool: Pool, { chainId, recovery }: Named, sender: string): Promise<boolean> {
  const { named } = recovery
  if (!named) return false
  const unlogged = await findUnlogged(pool, chainId, await named.read(sender))
  const isOurs = await mapOwn(unlogged, (txHash) => named.isPaidBy(txHash, sender))
  return isOurs.some(Boolean)
}
