import type { QuoteRequest } from '@geoswap/wire'
import { SwapRefusedError } from './errors.ts'
import { families } from './families/registry.ts'
import { nowSeconds } from './retry.ts'
import type { DepositPayment, SignatureLifetime } from './signers.ts'

/** Stores signatures that can still be used, by the intent of their request. A `Map` is one. */
export type SignatureStore = {
  get(intent: string): SignatureLifetime | undefined
  set(intent: string, life: SignatureLifetime): unknown
  delete(intent: string): unknown
}

/** In seconds of the local clock: after it, no chain with a correct clock accepts the signature. */
export function lockableUntil(life: SignatureLifetime): number {
  return families[life.family].lockableUntil(life)
}

type Clock = (life: SignatureLifetime) => Promise<boolean>

/** Asks the chain if a node is configured, otherwise uses the local clock. */
export function createLockable(rpcUrls: Readonly<Record<number, string>>): Clock {
  return async (life) => {
    const rpcUrl = rpcUrls[life.chainId]
    const isByClock = nowSeconds() <= lockableUntil(life)
    if (rpcUrl === undefined) return isByClock
    return families[life.family].isLockable(life, rpcUrl).catch(() => isByClock)
  }
}

export type OpenSignatures = ReturnType<typeof createOpenSignatures>

/**
 * Signatures whose swap did not settle. A refusal is only the service's word: while the chain accepts the
 * signature, a second signature for the same intent could become a second swap.
 */
export function createOpenSignatures(isLockableNow: Clock, open: SignatureStore = new Map()) {
  async function assertOver(life: SignatureLifetime): Promise<void> {
    if (!(await isLockableNow(life))) return
    const until = new Date(lockableUntil(life) * 1_000).toISOString()
    const message = `An earlier signature for this swap can be used until ${until}. Nothing was signed.`
    throw new SwapRefusedError('SIGNATURE_OPEN', message)
  }

  return {
    async assertNone(request: QuoteRequest): Promise<void> {
      const life = open.get(intentOf(request))
      if (life) await assertOver(life)
    },

    /** Stored before the wallet is asked. Of several that claim the same request at once, one succeeds. */
    async claim(request: QuoteRequest, life: SignatureLifetime): Promise<void> {
      const intent = intentOf(request)
      for (let last = open.get(intent); last; ) {
        await assertOver(last)
        const now = open.get(intent)
        // Stores that write text return another object each time.
        if (!now || lockableUntil(now) === lockableUntil(last)) break
        last = now
      }
      open.set(intent, life)
    },

    /** Notes that the wallet is asked for the transfer of this request: once, whether it then sends it or not. */
    keepAsked(request: QuoteRequest, { chainId, until }: DepositPayment): void {
      const intent = intentOf(request)
      const life = open.get(intent)
      if (life && 'isAsked' in life && life.isAsked)
        throw new SwapRefusedError(
          'PAYMENT_ASKED',
          'The wallet was asked for this transfer before. Look whether it sent it: nothing was sent now.',
        )
      const { opDeadline = until } = life && 'opDeadline' in life ? life : {}
      open.set(intent, { family: 'evm', chainId, opDeadline, isAsked: true })
    },

    release: (request: QuoteRequest) => void open.delete(intentOf(request)),
  }
}

// They say how well a swap has to be done, not which one: with other values it is still the same swap.
const QUALITIES = ['slippageBps', 'maxEtaSeconds']

/** The key of a request in a store of signatures: equal for requests of the same swap. */
export function intentOf(request: QuoteRequest): string {
  const fields = Object.entries(request)
    .filter(([name, value]) => value !== undefined && !QUALITIES.includes(name))
    .map(([name, value]) => [name, /^0x/i.test(String(value)) ? String(value).toLowerCase() : value] as const)
  return JSON.stringify(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
