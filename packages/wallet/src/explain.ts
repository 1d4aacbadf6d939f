import {
  GeoswapError,
  SubmissionUnknownError,
  SwapRefusedError,
  SwapTimeoutError,
  TamperedOperationError,
} from '@geoswap/sdk'
import { type X402Code, X402Error } from '@geoswap/sdk/x402'
import { formatAmount } from './amounts.ts'
import type { Context } from './context.ts'
import { timeOf, UserError } from './errors.ts'
import type { Order } from './store/journal.ts'

/** An error as it is reported: message and advice for people, all fields for programs. */
type Explained = {
  code: string
  message: string
  advice?: string | undefined
  details?: Readonly<Record<string, unknown>>
}

type Known = {
  url: string | undefined
  isLocal: boolean
  clockAheadMs: number | undefined
  order: Order | undefined
}

/** Undefined for unexpected errors: those are bugs, not something the user can act on. */
export function explain(error: unknown, readKnown: () => Known): Explained | undefined {
  if (error instanceof UserError) {
    const { code, message, advice, details } = error
    return { code, message, advice, details }
  }
  if (error instanceof GeoswapError) return explainService(error, readKnown())
  if (error instanceof TamperedOperationError) return explainTampered(error, readKnown())
  if (error instanceof SwapRefusedError) return explainRefused(error, readKnown())
  if (error instanceof X402Error) return explainX402(error)
  if (error instanceof SwapTimeoutError) return { code: error.code, message: error.message }
  if (error instanceof SubmissionUnknownError) {
    const { cause, code } = error
    if (cause instanceof UserError) return explain(cause, readKnown)
    return { code, message: 'The service did not say whether it accepted the swap.' }
  }
  if (error instanceof Error && 'syscall' in error)
    return { code: 'FILE_FAILED', message: error.message, advice: 'Check the path and its permissions.' }
  return undefined
}

const X402_ADVICE: Readonly<Partial<Record<X402Code, string>>> = {
  X402_URL: 'Use https. --insecure allows http to another machine.',
  X402_TOO_LARGE: 'geoswap pay --output FILE takes answers of up to 256 MB.',
  X402_CHANGED: 'Run the command again to see the new price.',
  X402_SWAP_ENDED: 'The input of the swap is in the wallet, or on its way back. Run the command again.',
  X402_TAKEN: 'Ask the seller for what was paid for. --again pays a second time.',
  X402_IN_FLIGHT: 'Wait for it.',
}

/** The seller's words are in the message, cleaned. */
function explainX402({ code, message, standing, swapId, reasons }: X402Error): Explained {
  const until = standing.payment === 'none' ? undefined : timeOf(standing.until)
  const stake = {
    none: 'Nothing was paid.',
    open:
      `The payment was sent and can be taken until ${until}. ` +
      'Until then the same command sends it again, and signs no other one.',
    taken: 'The payment was taken. The same command sends it again, and signs no other one.',
  }[standing.payment]
  const swapped = swapId === undefined ? undefined : `The swap before it is ${swapId}.`
  const advice = [...reasons.map((reason) => `${reason}.`), stake, swapped, X402_ADVICE[code]]
  return {
    code,
    message,
    advice: advice.filter((each) => each !== undefined).join(' '),
    details: { payment: standing.payment, until, swapId, reasons: reasons.length > 0 ? reasons : undefined },
  }
}

/** True if the message comes from the service. Connection errors have messages of the SDK. */
export function isFromService(error: unknown): boolean {
  return error instanceof GeoswapError && error.status !== 0 && error.code !== 'UNEXPECTED_REPLY'
}

/** The wallet was asked to pay before, or the signature was made: what is left to do. */
const ADVICE: Readonly<Record<string, string>> = {
  PAYMENT_ASKED: 'Look whether the wallet sent it. Follow the swap: geoswap status SWAP --wait.',
  PAYMENT_LATE: 'Nothing was sent. Swap again.',
}

function explainRefused({ code, message, amounts, swapId }: SwapRefusedError, { order }: Known): Explained {
  const advice = ADVICE[code]?.replace('SWAP', swapId ?? 'SWAP')
  if (advice) return { code, message, advice, details: { swapId } }
  if (amounts && order) return { code, message: limitOf(amounts, code, order), advice: 'Nothing was signed.' }
  if (code !== 'UNPINNED' || !order) return { code, message, advice: 'Nothing was signed.' }
  const { chainId, chain } = order.from
  const isEvm = order.wallet.address.startsWith('0x')
  const named = `geoswap config set escrow.${chainId} ADDRESS`
  return {
    code,
    message: isEvm
      ? `The contracts on ${chain} are not known, and the service is not trusted to name them: ${message}`
      : `The escrow on ${chain} is not known, and the service is not trusted to name it.`,
    advice: isEvm
      ? `Set your own node to verify them: geoswap config set rpc.${chainId} URL. Or set the contracts: ` +
        `${named}, and account.${chainId} likewise. Nothing was signed.`
      : `Set the program, vault and attester that the operator publishes: ${named}, and vault.${chainId} and ` +
        `attester.${chainId} likewise. Nothing was signed.`,
  }
}

/** The limit that a quote broke, in whole tokens. */
function limitOf({ quoted, allowed }: Amounts, code: string, { from, to }: Order): string {
  const isInput = code === 'INPUT_LIMIT'
  const { decimals, symbol } = isInput ? from : to
  const [is, limit] = [quoted, allowed].map((text) => `${formatAmount(BigInt(text), decimals)} ${symbol}`)
  if (isInput) return `The input is ${is}, at most ${limit} is allowed.`
  return `The guaranteed output is ${is}, at least ${limit} is wanted.`
}

type Amounts = NonNullable<SwapRefusedError['amounts']>

export function knownOf({ settings, seen }: Pick<Context, 'settings' | 'seen'>): Known {
  return {
    url: settings.service?.url,
    isLocal: settings.local !== undefined,
    clockAheadMs: seen.clockAheadMs,
    order: seen.order,
  }
}

function explainService(error: GeoswapError, known: Known): Explained {
  const { code, message, requestId, retryable, recovery, details } = error
  return {
    code,
    message,
    advice: adviceFor(error, known),
    details: { retryable, recovery, requestId, details },
  }
}

function adviceFor({ code, recovery }: GeoswapError, { url, isLocal, order }: Known): string | undefined {
  const where = `The URL is ${url}.`
  if (code === 'CONNECTION_FAILED' || code === 'TIMEOUT') {
    return isLocal
      ? `${where} Is npm start still running?`
      : `${where} Check the network, or geoswap config get url.`
  }
  if (code === 'UNEXPECTED_REPLY') return where
  if (code === 'INVALID_API_KEY' || code === 'MISSING_API_KEY') {
    const other = isLocal ? ' The local network has its own: geoswap config unset apiKey.' : ''
    return `Set the right one for ${url}: geoswap config set apiKey KEY, or GEOSWAP_API_KEY.${other}`
  }
  return order && amountsIn(recovery, order)
}

/** The amounts of a refusal, converted from smallest units to whole tokens. */
function amountsIn(recovery: GeoswapError['recovery'], order: Order): string | undefined {
  const asked = order.tradeType === 'exactInput' ? order.from : order.to
  const write = (amount: unknown, { decimals, symbol }: Order['from']) =>
    `${formatAmount(BigInt(String(amount)), decimals)} ${symbol}`
  const { minAmount, maxAmount, balance, required } = recovery as Record<string, unknown>
  if (minAmount !== undefined) return `The service says: use at least ${write(minAmount, asked)}.`
  if (maxAmount !== undefined) return `The service says: use at most ${write(maxAmount, asked)}.`
  if (balance === undefined || required === undefined) return undefined
  const [holds, takes] = [write(balance, order.from), write(required, order.from)]
  return `The service says: the wallet holds ${holds}, the swap takes ${takes}.`
}

const CLOCK_LIMIT_MS = 60_000

/** A wrong clock makes honest deadlines look tampered with, so it is reported first. */
function explainTampered({ code, message, differences }: TamperedOperationError, known: Known): Explained {
  const { clockAheadMs = 0, url } = known
  const isAboutTime = differences.every(({ field }) => field.endsWith('Deadline'))
  if (isAboutTime && Math.abs(clockAheadMs) > CLOCK_LIMIT_MS) {
    const minutes = Math.round(Math.abs(clockAheadMs) / 60_000)
    const direction = clockAheadMs > 0 ? 'ahead of' : 'behind'
    return {
      code: 'CLOCK_WRONG',
      message: `This machine's clock is ${minutes} min ${direction} the service's, so its deadlines look wrong.`,
      advice: 'Set the clock, then try again. Nothing was signed.',
      details: { clockAheadMs, differences },
    }
  }
  const advice = `Nothing was signed. Do not use ${url} before that is explained.`
  return { code, message, advice, details: { differences } }
}
