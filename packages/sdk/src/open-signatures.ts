import type { QuoteRequest, StatusReply } from '@geoswap/wire'
import { type SwapRefusal, SwapRefusedError } from './errors.ts'
import { families } from './families/registry.ts'
import { nowSeconds } from './retry.ts'
import type { DepositPayment, SignatureLifetime } from './signers.ts'

type Swap = Pick<StatusReply, 'swapId' | 'status'>
type ReadSwap = (swapId: string) => Promise<Swap>

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
 * signature, a second signature for the same intent could become a second swap. A wallet that was asked for a
 * transfer may have sent it: then the end of that swap counts too.
 */
export function createOpenSignatures(
  isLockableNow: Clock,
  readSwap: ReadSwap,
  open: SignatureStore = new Map(),
) {
  const intents = new Map<string, string>()

  async function assertOver(intent: string, life: SignatureLifetime): Promise<void> {
    const swapId = askedSwapOf(life)
    const isOpen = await isLockableNow(life)
    if (swapId !== undefined) {
      intents.set(swapId, intent)
      return assertUnsettled(readSwap, swapId, isOpen)
    }
    if (!isOpen) return
    const until = new Date(lockableUntil(life) * 1_000).toISOString()
    const message = `An earlier signature for this swap can be used until ${until}. Nothing was signed.`
    throw new SwapRefusedError('SIGNATURE_OPEN', message)
  }

  return {
    async assertNone(request: QuoteRequest): Promise<void> {
      const intent = intentOf(request)
      const life = open.get(intent)
      if (life) await assertOver(intent, life)
    },

    /** Stored before the wallet is asked. Of several that claim the same request at once, one succeeds. */
    async claim(request: QuoteRequest, life: SignatureLifetime): Promise<void> {
      const intent = intentOf(request)
      for (let last = open.get(intent); last; ) {
        await assertOver(intent, last)
        const now = open.get(intent)
        // Stores that write text return another object each time.
        if (!now || lockableUntil(now) === lockableUntil(last)) break
        last = now
      }
      open.set(intent, life)
    },

    /** Notes that the wallet is asked for the transfer of this request: once, whether it then sends it or not. */
    keepAsked(request: QuoteRequest, { chainId, opDeadline }: DepositPayment, swapId: string): void {
      const intent = intentOf(request)
      open.set(intent, { family: 'evm', chainId, opDeadline, isAsked: true, swapId })
      intents.set(swapId, intent)
    },

    /** Throws if the wallet was asked for the transfer of this request before. */
    assertUnasked(request: QuoteRequest, swapId: string): void {
      const life = open.get(intentOf(request))
      if (life && 'isAsked' in life && life.isAsked)
        throw wasAsked('PAYMENT_ASKED', 'It was not asked again', { swapId: life.swapId ?? swapId })
    },

    /** Deletes the note of this lifetime, not that of a later swap of the same request. */
    release(request: QuoteRequest, until: number): void {
      const intent = intentOf(request)
      const life = open.get(intent)
      if (life && lockableUntil(life) === until) open.delete(intent)
    },

    /** The caller knows now that the transfer was swapped: another one can be asked for. */
    releaseSettled({ swapId, status }: Swap): void {
      const intent = intents.get(swapId)
      const life = intent === undefined ? undefined : open.get(intent)
      if (status === 'settled' && intent && life && askedSwapOf(life) === swapId) open.delete(intent)
    },
  }
}

const UNSETTLED: readonly string[] = ['failed', 'refunded']

async function assertUnsettled(read: ReadSwap, swapId: string, isOpen: boolean): Promise<void> {
  let cause: unknown
  try {
    if (!isOpen && UNSETTLED.includes((await read(swapId)).status)) return
  } catch (error) {
    cause = error
  }
  throw wasAsked('SIGNATURE_OPEN', 'Nothing was signed', { swapId, cause })
}

const askedSwapOf = (life: SignatureLifetime) => ('swapId' in life ? life.swapId : undefined)

function wasAsked(
  code: SwapRefusal,
  now: string,
  { swapId, cause }: { swapId: string; cause?: unknown },
): SwapRefusedError {
  const message =
    `The wallet was asked to pay this swap, ${swapId}, and may have sent it. ${now}. ` +
    'Follow that swap to its end first, with client.resume(swapId).'
  return new SwapRefusedError(code, message, { swapId, cause })
}

// They say how well a swap has to be done, or what it is called: with other values it is still the same swap.
const QUALITIES = ['slippageBps', 'maxEtaSeconds', 'externalId']

/** The key of a request in a store of signatures: equal for requests of the same swap. */
export function intentOf(request: QuoteRequest): string {
  const fields = Object.entries(request)
    .filter(([name, value]) => value !== undefined && !QUALITIES.includes(name))
    .map(([name, value]) => [name, /^0x/i.test(String(value)) ? String(value).toLowerCase() : value] as const)
  return JSON.stringify(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
