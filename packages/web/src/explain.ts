import {
  GeoswapError,
  plainText,
  SubmissionUnknownError,
  SwapRefusedError,
  SwapTimeoutError,
  TamperedOperationError,
} from '@geoswap/sdk'
import { formatUnits, type Unit } from './amounts.ts'

/** An error for people: what happened, and what to do. */
export type Explained = { code: string; message: string; advice: string; requestId?: string | undefined }

/** `isUnpaid`: the swap is paid by a transaction that the wallet was not asked for yet. */
type Known = { input?: Unit | undefined; isUnpaid?: boolean }

export function explain(error: unknown, known: Known = {}): Explained {
  if (error instanceof GeoswapError) {
    const { code, message, requestId } = error
    const limit = limitOf(error, known)
    // The message of the service names the limit too, in its smallest unit.
    if (limit) return { code, message: message.replace(/\. .*/s, '.'), advice: limit, requestId }
    return { code, message, advice: adviceFor(error), requestId }
  }
  if (error instanceof TamperedOperationError)
    return {
      code: error.code,
      message: error.message,
      advice: 'Nothing was signed. Check the clock of this device; if it is right, do not use this service.',
    }
  if (error instanceof SwapRefusedError)
    return { code: error.code, message: error.message, advice: refusalAdvice(error) }
  if (error instanceof SubmissionUnknownError)
    return {
      code: error.code,
      message: 'The service did not say whether it accepted the swap.',
      advice: known.isUnpaid ? START_AGAIN : ASK_AGAIN,
    }
  if (error instanceof SwapTimeoutError)
    return { code: error.code, message: error.message, advice: 'Check again later.' }
  if (isRejected(error))
    return { code: 'REJECTED', message: 'You said no in the wallet.', advice: 'Nothing was signed or sent.' }
  return {
    code: 'ERROR',
    message: messageOf(error),
    advice: 'Try again. If the error persists, reload the page.',
  }
}

const ASK_AGAIN = 'Do not start another one. Ask again: the same signature creates at most one swap.'
const START_AGAIN = "Start again: without the wallet's transaction the service swaps nothing."

/** The amount that can be swapped, in tokens; undefined if no other amount would help. */
function limitOf({ recovery }: GeoswapError, { input }: Known): string | undefined {
  const { minAmount, maxAmount } = recovery as { minAmount?: string; maxAmount?: string }
  if (minAmount !== undefined && input) return `Swap at least ${formatUnits(minAmount, input)}.`
  if (maxAmount === undefined || maxAmount === '0' || !input) return undefined
  return `Swap at most ${formatUnits(maxAmount, input)}.`
}

function adviceFor({ code, message, retryable }: GeoswapError): string {
  return ADVICE[code] ?? (retryable && !message.includes('. ') ? 'Try again in a moment.' : '')
}

const ADVICE: Readonly<Record<string, string>> = {
  MISSING_API_KEY: 'Enter an API key. The operator of the service gives them out.',
  INVALID_API_KEY: 'Enter the key again, or ask the operator of the service for a new one.',
  CONNECTION_FAILED: 'Check the connection. The page retries automatically.',
  TIMEOUT: 'Check the connection. The page retries automatically.',
  UNEXPECTED_REPLY: 'Something between this page and the service answered. Try again in a moment.',
  INSUFFICIENT_BALANCE: 'Put more of the token into the wallet, or swap less.',
  NO_ROUTE: 'Choose another token.',
  UNSUPPORTED_DELEGATION: 'Use another wallet on this chain.',
  CHAIN_UNAVAILABLE: 'The page retries automatically.',
  PRICE_UNAVAILABLE: 'The page retries automatically.',
  RATE_LIMITED: 'Wait a moment.',
  SWAP_NOT_FOUND: 'Check the id, and that it belongs to this API key.',
}

function refusalAdvice({ code }: SwapRefusedError): string {
  if (code === 'SIGNATURE_OPEN')
    return 'Two signatures could become two swaps. Try again after that time, or look at your open swaps.'
  if (code === 'DECLINED') return 'Nothing was signed.'
  if (code === 'SIGNER') return 'Nothing was signed or sent.'
  if (code === 'PAYMENT_ASKED') return 'The wallet may have sent it already. The page follows it.'
  if (code === 'PAYMENT_LATE') return 'Nothing was sent. Swap again.'
  return 'Nothing was signed. Look at the price again.'
}

// EIP-1193, which wallets of Solana use too.
const REJECTED = 4001

const isRejected = (error: unknown): boolean => fieldOf(error, 'code') === REJECTED

/** Wallets reject with an error, or with a plain object. */
function messageOf(error: unknown): string {
  const message = fieldOf(error, 'message')
  return typeof message === 'string' && message ? plainText(message) : 'Something went wrong.'
}

const fieldOf = (error: unknown, name: 'code' | 'message'): unknown =>
  typeof error === 'object' && error !== null ? (error as Record<string, unknown>)[name] : undefined
