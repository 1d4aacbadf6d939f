import { createCalls } from './calls.ts'
import type { KnownContracts } from './checks/terms.ts'
import { type EventsOptions, followSwap, type SwapEvent } from './events.ts'
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
  /** By chain. What is named here is not taken from the service: anything else is not signed for. */
  contracts?: Readonly<Record<number, KnownContracts>>
  /** How far ahead the last deadline of what is signed may be, 24 hours when absent. */
  maxHoldSeconds?: number
}

export type Client = ReturnType<typeof createClient>

const DAY_SECONDS = 86_400
const TIMEOUT_MS = 20_000

/**
 * A client of the service.
 *
 *     const client = createClient({ baseUrl, apiKey })
 *     const swap = await client.swap(request, fromViemAccount(account))
 */
export function createClient({ baseUrl, apiKey, ...options }: ClientOptions) {
  const policy = { ...defaultRetry, ...options.retry }
  const connection = {
    ...{ baseUrl: baseUrl.replace(/\/+$/, ''), apiKey },
    // A bare `fetch` of a browser may only be called as a function of the window.
    fetch: options.fetch ?? ((...call: Parameters<typeof fetch>) => globalThis.fetch(...call)),
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
  }
  const { postOnce, readOnce, streamOnce, ...calls } = createCalls(connection, policy)

  /** Sends the same submission until the service has said what became of it. */
  function submit(submission: Submission, { signal }: { signal?: AbortSignal | undefined } = {}) {
    const post = (body: Submission) => postOnce(body, { signal })
    return submitUntilKnown({ policy, post }, submission, signal)
  }

  /** Waits for the end of a swap by held reads. A swap that failed or was refunded is an end, not an error. */
  function waitForSwap(swapId: string, wait: WaitOptions = {}): Promise<EndedSwap> {
    return waitForEnd({ policy, read: readOnce }, swapId, wait)
  }

  return {
    ...calls,
    submit,
    waitForSwap,

    /**
     * Each change of a swap as it happens, from the first or from after `lastEventId`, to its end.
     *
     *     for await (const { swap } of client.events(swapId)) console.log(swap.substatus)
     */
    events(swapId: string, events: EventsOptions = {}): AsyncGenerator<SwapEvent, void, undefined> {
      return followSwap({ policy, open: streamOnce }, swapId, events)
    },

    /** The whole swap: quote, delegation, build, checks, signature, submission, waiting. */
    swap(request: SwapRequest, signer: Signer, swapOptions: SwapOptions = {}): Promise<EndedSwap> {
      const { contracts = {}, maxHoldSeconds = DAY_SECONDS } = options
      const deps = { calls, submit, waitForSwap, contracts, maxHoldSeconds }
      return swap(deps, request, signer, swapOptions)
    },

    /** Goes on where a swap was left: at its id, or at a submission of which nobody knows whether it arrived. */
    async resume(left: string | Submission, wait: WaitOptions = {}): Promise<EndedSwap> {
      const swapId = typeof left === 'string' ? left : (await submit(left, wait)).swapId
      return waitForSwap(swapId, wait)
    },
  }
}
