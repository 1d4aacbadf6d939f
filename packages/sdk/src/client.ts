import type {
  CapabilitiesReply,
  ChainsReply,
  DelegationQuery,
  DelegationReply,
  HistoryQuery,
  HistoryReply,
  NamedQuoteRequest,
  QuoteReply,
  StatusReply,
  SubmitReply,
  TokensQuery,
  TokensReply,
} from '@geoswap/wire'
import { type Build, type BuildOptions, createCalls } from './calls.ts'
import type { KnownContracts } from './checks/terms.ts'
import { type Deposit, type DepositOptions, openDeposit } from './deposit.ts'
import type { Submission } from './errors.ts'
import { withKnownFamilies } from './families/registry.ts'
import type { CallOptions } from './http.ts'
import { createLockable, createOpenSignatures, type SignatureStore } from './open-signatures.ts'
import { type Paid, type PayOptions, pay } from './pay.ts'
import { createPins, type PinStore } from './pins.ts'
import { assertContracts } from './request.ts'
import { defaultRetry, type RetryPolicy } from './retry.ts'
import type { Signer } from './signers.ts'
import { submitUntilKnown } from './submission.ts'
import {
  type PreparedSwap,
  type PrepareOptions,
  prepare,
  type SwapOptions,
  type SwapRequest,
  swap,
} from './swap.ts'
import {
  type EndedSwap,
  type EventsOptions,
  followSwap,
  type SwapEvent,
  type WaitOptions,
  waitForEnd,
} from './wait.ts'

export type ClientOptions = {
  /** URL of the service, with the path it is mounted under. */
  baseUrl: string
  /** Absent where `fetch` signs each request as a wallet (ERC-8128). */
  apiKey?: string
  fetch?: typeof fetch
  /** Timeout of one reply, 20 s when absent; held reads add their hold time. */
  timeoutMs?: number
  retry?: Partial<RetryPolicy>
  /**
   * Trusted contracts by chain. The origin chain of a swap needs `account` and `escrow`, or on Solana
   * `escrow`. Contracts named by the service are not trusted.
   */
  contracts?: Readonly<Record<number, KnownContracts>>
  /**
   * The caller's nodes by chain. Unknown contracts on EVM chains are read from them once and compared with
   * the published code. They also tell whether a signature can still be used.
   */
  rpcUrls?: Readonly<Record<number, string>>
  /** Stores verified contracts. Without a store, only this client remembers them. */
  pins?: PinStore
  /** Stores signatures that can still be used. Without a store, only this client remembers them. */
  signatures?: SignatureStore
  /** The last signed deadline may be at most this far in the future, 24 hours when absent. */
  maxHoldSeconds?: number
}

export type Client = {
  /** The whole swap: quote, delegation, build, checks, signature, submission, waiting. */
  swap(request: SwapRequest, signer: Signer, options?: SwapOptions): Promise<EndedSwap>
  /**
   * The swap up to its signature, checked and not submitted. `approve` sees each act of the wallet first.
   *
   *     const prepared = await client.prepare(request, signer, { approve })
   *     const { swapId } = await client.pay(prepared, signer)
   */
  prepare(request: SwapRequest, signer: Signer, options?: PrepareOptions): Promise<PreparedSwap>
  /**
   * Submits a prepared swap. Where the input comes in by a transfer, the wallet is then asked to send it: once, as
   * `signatures` remembers. A wallet that rejects it can be asked again, with a swap that is prepared anew. A
   * payment with an unknown outcome is a PaymentUnknownError.
   */
  pay(
    prepared: Pick<PreparedSwap, 'request' | 'submission' | 'payment'>,
    signer: Signer,
    options?: PayOptions,
  ): Promise<Paid>
  /**
   * Opens a swap that a plain transfer pays: from any wallet, an exchange or a custodian, without a
   * signature. Follow it with `waitForSwap` or `events`.
   */
  deposit(request: NamedQuoteRequest, options?: DepositOptions): Promise<Deposit>
  /** Continues an interrupted swap: by its id, or by a submission with an unknown outcome. */
  resume(left: string | Submission, options?: WaitOptions): Promise<EndedSwap>
  /** A price, sealed for 30 seconds. */
  quote(request: NamedQuoteRequest, options?: CallOptions): Promise<QuoteReply>
  /** Returns whether the wallet must sign an authorization first, and for which contract and nonce. */
  delegation(query: DelegationQuery, options?: CallOptions): Promise<DelegationReply>
  /** Builds the op or transaction to sign. The quote's `origin` selects the build call. */
  build(
    quote: Pick<QuoteReply, 'origin' | 'geoQuoteToken'>,
    options?: CallOptions & BuildOptions,
  ): Promise<Build>
  /** Sends the same submission until its outcome is known. */
  submit(submission: Submission, options?: CallOptions): Promise<SubmitReply>
  /**
   * The current state of a swap. With `waitSeconds` (up to 15) the reply is held until the swap has ended.
   */
  status(swapId: string, options?: CallOptions & { waitSeconds?: number }): Promise<StatusReply>
  /** Waits for the end of a swap with held reads. A failed or refunded swap is a result, not an error. */
  waitForSwap(swapId: string, options?: WaitOptions): Promise<EndedSwap>
  /**
   * Yields each change of a swap as it happens, from the first or after `lastEventId`, until it has ended.
   *
   *     for await (const { swap } of client.events(swapId)) console.log(swap.substatus)
   */
  events(swapId: string, options?: EventsOptions): AsyncGenerator<SwapEvent, void, undefined>
  /** One page of the account's swaps, newest first; `cursor` is the `nextCursor` of the previous page. */
  history(query?: HistoryQuery, options?: CallOptions): Promise<HistoryReply>
  /** Tells what this key can do here, why the rest is off, and its limits. */
  capabilities(options?: CallOptions): Promise<CapabilitiesReply>
  /** The chains that can be swapped from and to, and whether they are available. */
  chains(options?: CallOptions): Promise<ChainsReply>
  /** The tokens of one chain, or of all. */
  tokens(query?: TokensQuery, options?: CallOptions): Promise<TokensReply>
}

const DAY_SECONDS = 86_400
const TIMEOUT_MS = 20_000

/**
 * Creates a client of the service.
 *
 *     const client = createClient({ baseUrl, apiKey, rpcUrls: { 8453: 'https://node.example' } })
 *     const swap = await client.swap(request, fromViemAccount(account))
 */
export function createClient({ baseUrl, apiKey = '', ...options }: ClientOptions): Client {
  const policy = { ...defaultRetry, ...options.retry }
  const connection = {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    apiKey,
    // Browsers reject `fetch` unless it is called as a function of the window.
    fetch: options.fetch ?? ((...call: Parameters<typeof fetch>) => globalThis.fetch(...call)),
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
  }
  const { postOnce, readOnce, streamOnce, ...calls } = createCalls(connection, policy)

  function submit(submission: Submission, { signal }: CallOptions = {}): Promise<SubmitReply> {
    const post = (body: Submission) => postOnce(body, { signal })
    return submitUntilKnown({ policy, post }, submission, signal)
  }

  async function waitForSwap(swapId: string, wait: WaitOptions = {}): Promise<EndedSwap> {
    const ended = await waitForEnd({ policy, read: readOnce }, swapId, wait)
    openSignatures.releaseSettled(ended)
    return ended
  }

  const { contracts = {}, rpcUrls = {}, maxHoldSeconds = DAY_SECONDS } = options
  assertContracts(contracts)
  const pins = createPins({ contracts, rpcUrls, store: options.pins })
  const openSignatures = createOpenSignatures(createLockable(rpcUrls), calls.status, options.signatures)
  const deps = { calls, submit, waitForSwap, pins, openSignatures, maxHoldSeconds }

  return {
    ...calls,
    chains: async (call) => withKnownFamilies(await calls.chains(call)),
    submit,
    waitForSwap,
    events: (swapId, events = {}) => followSwap({ policy, open: streamOnce }, swapId, events),
    swap: (request, signer, swapOptions = {}) => swap(deps, request, signer, swapOptions),
    prepare: (request, signer, prepareOptions = {}) => prepare(deps, request, signer, prepareOptions),
    pay: (prepared, signer, payOptions = {}) => pay(deps, prepared, signer, payOptions),
    deposit: (request, depositOptions = {}) => openDeposit(deps, request, depositOptions),
    async resume(left, wait = {}) {
      const swapId = typeof left === 'string' ? left : (await submit(left, wait)).swapId
      return waitForSwap(swapId, wait)
    },
  }
}
