import type {
  Authorization,
  ChainsReply,
  DelegationQuery,
  DelegationReply,
  HistoryQuery,
  HistoryReply,
  QuoteReply,
  QuoteRequest,
  StatusReply,
  SubmitReply,
  TokensQuery,
  TokensReply,
} from '@geoswap/wire'
import { type Build, createCalls } from './calls.ts'
import type { KnownContracts } from './checks/terms.ts'
import { type EventsOptions, followSwap, type SwapEvent } from './events.ts'
import type { CallOptions } from './http.ts'
import { createLockable, createOpenSignatures } from './open-signatures.ts'
import { createPins, type PinStore } from './pins.ts'
import { defaultRetry, type RetryPolicy } from './retry.ts'
import type { Signer } from './signers.ts'
import { type Submission, submitUntilKnown } from './submission.ts'
import { type SwapOptions, type SwapRequest, swap } from './swap.ts'
import { type EndedSwap, type WaitOptions, waitForEnd } from './wait.ts'

export type ClientOptions = {
  /** Where the service is, with the path that it is mounted under. */
  baseUrl: string
  apiKey: string
  fetch?: typeof fetch
  /** For one reply, 20 s when absent; held reads get their hold on top. */
  timeoutMs?: number
  retry?: Partial<RetryPolicy>
  /**
   * By chain: whose contracts may be signed for. What a swap is paid on has to be known: `account` and `escrow`, or on
   * Solana `escrow`. The service is not believed.
   */
  contracts?: Readonly<Record<number, KnownContracts>>
  /**
   * By chain: nodes of the caller's. Contracts on EVM chains that are not known are read from them once and compared
   * with the published code; and they say whether what was signed can still be used.
   */
  rpcUrls?: Readonly<Record<number, string>>
  /** Keeps what was verified; without it that is remembered by this client alone. */
  pins?: PinStore
  /** How far ahead the last deadline of what is signed may be, 24 hours when absent. */
  maxHoldSeconds?: number
}

export type Client = {
  /** The whole swap: quote, delegation, build, checks, signature, submission, waiting. */
  swap(request: SwapRequest, signer: Signer, options?: SwapOptions): Promise<EndedSwap>
  /** Goes on where a swap was left: at its id, or at a submission of which nobody knows whether it arrived. */
  resume(left: string | Submission, options?: WaitOptions): Promise<EndedSwap>
  /** A price, sealed for 30 seconds. */
  quote(request: QuoteRequest, options?: CallOptions): Promise<QuoteReply>
  /** Whether the wallet has to sign an authorization first, and over what. */
  delegation(query: DelegationQuery, options?: CallOptions): Promise<DelegationReply>
  /** What there is to sign. The quote's `origin` decides which of the two build calls it is. */
  build(
    quote: Pick<QuoteReply, 'origin' | 'geoQuoteToken'>,
    options?: CallOptions & { authorization?: Authorization | undefined },
  ): Promise<Build>
  /** Sends the same submission until the service has said what became of it. */
  submit(submission: Submission, options?: CallOptions): Promise<SubmitReply>
  /** The swap as it is now, or with `waitSeconds` (up to 15) held until it has ended. */
  status(swapId: string, options?: CallOptions & { waitSeconds?: number }): Promise<StatusReply>
  /** Waits for the end of a swap by held reads. A swap that failed or was refunded is an end, not an error. */
  waitForSwap(swapId: string, options?: WaitOptions): Promise<EndedSwap>
  /**
   * Each change of a swap as it happens, from the first or from after `lastEventId`, to its end.
   *
   *     for await (const { swap } of client.events(swapId)) console.log(swap.substatus)
   */
  events(swapId: string, options?: EventsOptions): AsyncGenerator<SwapEvent, void, undefined>
  /** A page of the account's swaps, the newest first; `cursor` is the `nextCursor` of the page before. */
  history(query?: HistoryQuery, options?: CallOptions): Promise<HistoryReply>
  /** The chains that can be swapped from and to, and whether they are up. */
  chains(options?: CallOptions): Promise<ChainsReply>
  /** The tokens of one chain, or of all. */
  tokens(query?: TokensQuery, options?: CallOptions): Promise<TokensReply>
}

const DAY_SECONDS = 86_400
const TIMEOUT_MS = 20_000

/**
 * A client of the service.
 *
 *     const client = createClient({ baseUrl, apiKey, rpcUrls: { 8453: 'https://node.example' } })
 *     const swap = await client.swap(request, fromViemAccount(account))
 */
export function createClient({ baseUrl, apiKey, ...options }: ClientOptions): Client {
  const policy = { ...defaultRetry, ...options.retry }
  const connection = {
    ...{ baseUrl: baseUrl.replace(/\/+$/, ''), apiKey },
    // A bare `fetch` of a browser may only be called as a function of the window.
    fetch: options.fetch ?? ((...call: Parameters<typeof fetch>) => globalThis.fetch(...call)),
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
  }
  const { postOnce, readOnce, streamOnce, ...calls } = createCalls(connection, policy)

  function submit(submission: Submission, { signal }: CallOptions = {}): Promise<SubmitReply> {
    const post = (body: Submission) => postOnce(body, { signal })
    return submitUntilKnown({ policy, post }, submission, signal)
  }

  function waitForSwap(swapId: string, wait: WaitOptions = {}): Promise<EndedSwap> {
    return waitForEnd({ policy, read: readOnce }, swapId, wait)
  }

  const { contracts = {}, rpcUrls = {}, maxHoldSeconds = DAY_SECONDS } = options
  const pins = createPins({ contracts, rpcUrls, store: options.pins })
  const openSignatures = createOpenSignatures(createLockable(rpcUrls))

  return {
    ...calls,
    submit,
    waitForSwap,
    events: (swapId, events = {}) => followSwap({ policy, open: streamOnce }, swapId, events),
    swap(request, signer, swapOptions = {}) {
      const deps = { calls, submit, waitForSwap, pins, openSignatures, maxHoldSeconds }
      return swap(deps, request, signer, swapOptions)
    },
    async resume(left, wait = {}) {
      const swapId = typeof left === 'string' ? left : (await submit(left, wait)).swapId
      return waitForSwap(swapId, wait)
    },
  }
}
