import type { QuoteRequest } from '@geoswap/wire'
import { SwapRefusedError } from './errors.ts'
import { callNode } from './node-rpc.ts'

/** The time a signature can be used, by the clock of its origin chain. */
export type SignatureLifetime =
  | { family: 'evm'; chainId: number; opDeadline: bigint }
  | { family: 'solana'; chainId: number; blockhash: string; signedAt: number }

// The clocks of the caller and of a chain may differ.
const SKEW_SECONDS = 300
// 150 blocks, with room for skipped slots. Only a node can tell that its chain has halted.
const BLOCKHASH_SECONDS = 150

/** In seconds of the local clock: after it, no chain with a correct clock accepts the signature. */
export function lockableUntil(life: SignatureLifetime): number {
  return life.family === 'evm' ? Number(life.opDeadline) + SKEW_SECONDS : life.signedAt + SKEW_SECONDS
}

type Clock = (life: SignatureLifetime) => Promise<boolean>

/** Asks the chain if a node is configured, otherwise uses the local clock. */
export function createLockable(rpcUrls: Readonly<Record<number, string>>): Clock {
  return async (life) => {
    const rpcUrl = rpcUrls[life.chainId]
    const isByClock = nowSeconds() <= lockableUntil(life)
    if (rpcUrl === undefined) return isByClock
    return isLockable(life, rpcUrl).catch(() => isByClock)
  }
}

async function isLockable(life: SignatureLifetime, rpcUrl: string): Promise<boolean> {
  if (life.family === 'evm') {
    const block = (await callNode(rpcUrl, 'eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
    return BigInt(block.timestamp) <= life.opDeadline
  }
  // A node that lags does not know a new blockhash yet and answers as for an expired one.
  if (nowSeconds() <= life.signedAt + BLOCKHASH_SECONDS) return true
  const asked = [life.blockhash, { commitment: 'finalized' }]
  const { value } = (await callNode(rpcUrl, 'isBlockhashValid', asked)) as { value: unknown }
  return value !== false
}

export type OpenSignatures = ReturnType<typeof createOpenSignatures>

/**
 * Signatures whose swap did not settle, by request. A refusal is only the service's word: while the chain
 * accepts the signature, a second signature for the same request could become a second swap.
 */
export function createOpenSignatures(isLockableNow: Clock) {
  const open = new Map<string, SignatureLifetime>()

  return {
    async assertNone(request: QuoteRequest): Promise<void> {
      const key = keyOf(request)
      const life = open.get(key)
      if (life === undefined) return
      if (!(await isLockableNow(life))) return void open.delete(key)
      const until = new Date(lockableUntil(life) * 1_000).toISOString()
      const message = `An earlier signature for this swap can be used until ${until}. Nothing was signed.`
      throw new SwapRefusedError('SIGNATURE_OPEN', message)
    },

    keep: (request: QuoteRequest, life: SignatureLifetime) => void open.set(keyOf(request), life),
  }
}

function keyOf(request: QuoteRequest): string {
  const fields = Object.entries(request).filter(([, value]) => value !== undefined)
  return JSON.stringify(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000)
}
