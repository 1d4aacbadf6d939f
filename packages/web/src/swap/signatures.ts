import {
  intentOf,
  lockableUntil,
  type QuoteRequest,
  type SignatureLifetime,
  type SignatureStore,
  type SwapRecord,
} from '@geoswap/sdk'
import { keep, readStored } from '../storage.ts'

const NAME = 'signatures'
const DAY_SECONDS = 86_400

type Kept = Readonly<Record<string, SignatureLifetime>>

/**
 * Signatures that may still be used, in the browser: also after a reload and in other tabs no second one is
 * made for the same swap. They hold no secret.
 */
export const signatures: SignatureStore = {
  get: (intent) => readSignatures()[intent],
  set: (intent, life) => write({ ...readSignatures(), [intent]: life }),
  delete(intent) {
    const { [intent]: _gone, ...others } = readSignatures()
    write(others)
  },
}

type Signed = { request: QuoteRequest; lockableUntil?: number | undefined }

/** A settled swap has used its signature. Another swap of the same intent, as of another tab, keeps its own. */
export function releaseSignature(swap: Signed): void {
  if (noteOf(swap)) signatures.delete(intentOf(swap.request))
}

/** A wallet that was not asked sends nothing: the same swap can begin anew. */
export function releaseUnasked(swap: Signed): void {
  if (!isAsked(noteOf(swap))) releaseSignature(swap)
}

function noteOf({ request, lockableUntil: until }: Signed): SignatureLifetime | undefined {
  const life = signatures.get(intentOf(request))
  return life && lockableUntil(life) === until ? life : undefined
}

/** By intent, all that are kept: also those that can no longer be used. */
export function readSignatures(): Kept {
  return readStored<Kept>(NAME) ?? {}
}

function write(kept: Kept): void {
  const end = Date.now() / 1_000 - DAY_SECONDS
  const fresh = Object.entries(kept).filter(([, life]) => lockableUntil(life) > end)
  keep(NAME, Object.fromEntries(fresh), 'browser')
}

/** Whether the wallet was asked for the transaction that pays: then no signature is kept, but that. */
export const isAsked = (life: SignatureLifetime | undefined): boolean =>
  life !== undefined && 'isAsked' in life && life.isAsked === true

/** A signature that a chain may still accept, and until when, in milliseconds. */
export type UnusedSignature = { request: QuoteRequest; untilMs: number; isAsked: boolean }

type Known = { wallets: readonly string[]; swaps: readonly SwapRecord[]; nowMs: number }

/** Signatures of these wallets that can still be used and belong to none of their open swaps. */
export function findUnused(
  kept: Readonly<Record<string, SignatureLifetime>>,
  { wallets, swaps, nowMs }: Known,
): UnusedSignature[] {
  return Object.entries(kept)
    .map(([intent, life]) => ({
      request: requestOf(intent),
      untilMs: lockableUntil(life) * 1_000,
      isAsked: isAsked(life),
    }))
    .filter(({ request, untilMs }) => untilMs >= nowMs && wallets.some(isSame(request.walletAddress)))
    .filter(({ request }) => !swaps.some((swap) => isSwapOf(request, swap)))
}

/** The reverse of `intentOf`. */
function requestOf(intent: string): QuoteRequest {
  return Object.fromEntries(JSON.parse(intent) as [string, unknown][]) as QuoteRequest
}

const isSame = (a: string) => (b: string) =>
  a === b || (/^0x/i.test(a) && a.toLowerCase() === b.toLowerCase())

function isSwapOf(request: QuoteRequest, swap: SwapRecord): boolean {
  return (
    request.originChain === swap.originChain &&
    request.destinationChain === swap.destinationChain &&
    isSame(request.inputToken)(swap.inputToken) &&
    isSame(request.outputToken)(swap.outputToken) &&
    isSame(request.walletAddress)(swap.walletAddress) &&
    isAmountOf(request, swap)
  )
}

function isAmountOf({ amount, tradeType }: QuoteRequest, { amounts }: SwapRecord): boolean {
  if (amount === 'max') return true
  return amount === (tradeType === 'exactOutput' ? amounts.quotedOutput : amounts.input)
}
