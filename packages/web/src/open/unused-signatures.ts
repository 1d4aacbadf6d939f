import { lockableUntil, type QuoteRequest, type SignatureLifetime, type SwapRecord } from '@geoswap/sdk'

/** A signature that a chain may still accept, and until when, in milliseconds. */
export type UnusedSignature = { request: QuoteRequest; untilMs: number }

type Known = { wallets: readonly string[]; swaps: readonly SwapRecord[]; nowMs: number }

/** Signatures of these wallets that can still be used and belong to none of their open swaps. */
export function findUnused(
  kept: Readonly<Record<string, SignatureLifetime>>,
  { wallets, swaps, nowMs }: Known,
): UnusedSignature[] {
  return Object.entries(kept)
    .map(([intent, life]) => ({ request: requestOf(intent), untilMs: lockableUntil(life) * 1_000 }))
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
