import type { Pool } from 'pg'
import { findUnlogged, readNextNonce } from '../store/rebuild.ts'
import type { Chains, ConnectedChain } from './chains.ts'

/** The senders that a chain knows more of than the database does. */
export async function findLost(pool: Pool, chains: Chains): Promise<string[]> {
  const found = await Promise.all(chains.all.map((chain) => findLostOn(pool, chain)))
  return found.flat()
}

/**
 * Of one chain. Nothing is sent before it is recorded, so a database that does not know what its own keys have sent was
 * restored from a backup, or is new; and whoever worked with it could pay twice.
 */
export async function findLostOn(
  pool: Pool,
  { config, senders, recovery }: Pick<ConnectedChain, 'config' | 'senders' | 'recovery'>,
): Promise<string[]> {
  const { chainId, name } = config
  const lost: string[] = []
  for (const address of Object.values(senders).flat()) {
    // The chain first: what it has by then was recorded before.
    const used = await recovery.readNextNonce(address)
    const isBehind =
      used === undefined
        ? await hasUnlogged(pool, { chainId, recovery }, address)
        : used > (await readNextNonce(pool, { chainId, address }))
    if (isBehind) lost.push(`${address} on ${name}`)
  }
  return lost
}

type Named = { chainId: number; recovery: ConnectedChain['recovery'] }

async function hasUnlogged(pool: Pool, { chainId, recovery }: Named, sender: string): Promise<boolean> {
  const unlogged = await findUnlogged(pool, chainId, await recovery.readNamed(sender))
  const isOurs = await Promise.all(unlogged.map((txHash) => recovery.isPaidBy(txHash, sender)))
  return isOurs.some(Boolean)
}
