import type {
  Authorization,
  BuildGeoOpReply,
  BuildSolanaTxReply,
  CapabilitiesReply,
  ChainsReply,
  DelegationQuery,
  DelegationReply,
  HistoryQuery,
  HistoryReply,
  NamedQuoteRequest,
  OriginMethod,
  QuoteReply,
  StatusReply,
  SubmitReply,
  TokensQuery,
  TokensReply,
} from '@geoswap/wire'
import type { Submission } from './errors.ts'
import { type Call, type CallOptions, type Connection, receive, send, unexpectedReply } from './http.ts'
import { type RetryPolicy, withRetries } from './retry.ts'
import type { EventsOptions } from './wait.ts'

type Repeat = <Reply>(call: Call) => Promise<Reply>

// The longest silence of a stream.
const HEARTBEAT_MS = 15_000

/** Reads of swaps: the current state, its changes, and the history. */
function createReads(connection: Connection, repeat: Repeat) {
  return {
    readOnce: (swapId: string, { waitSeconds, signal }: CallOptions & { waitSeconds: number }) =>
      send<StatusReply>(connection, toRead(swapId, waitSeconds, signal)),

    streamOnce: (swapId: string, { lastEventId, signal }: EventsOptions) =>
      receive(connection, {
        method: 'GET',
        signal,
        expects: [],
        holdMs: HEARTBEAT_MS,
        path: `/swap/status/${encodeURIComponent(swapId)}/events`,
        headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
      }),

    history: (query: HistoryQuery = {}, { signal }: CallOptions = {}) => {
      const text = new URLSearchParams()
      for (const [name, value] of Object.entries(query))
        if (value !== undefined) text.set(name, String(value))
      return repeat<HistoryReply>({ method: 'GET', path: `/swap/history?${text}`, expects: [], signal })
    },

    status: (swapId: string, { waitSeconds = 0, signal }: CallOptions & { waitSeconds?: number } = {}) =>
      repeat<StatusReply>(toRead(swapId, waitSeconds, signal)),
  }
}

function toRead(swapId: string, waitSeconds: number, signal: AbortSignal | undefined): Call {
  return {
    method: 'GET',
    signal,
    expects: ['swapId', 'status', 'substatus'],
    path: `/swap/status/${encodeURIComponent(swapId)}?wait=${waitSeconds}`,
    holdMs: waitSeconds * 1_000,
  }
}

export type EvmBuild = { origin: 'evm' } & BuildGeoOpReply
export type SolanaBuild = { origin: 'solana' } & BuildSolanaTxReply
/** A built quote. `origin` says whether an op or a Solana transaction is to be signed. */
export type Build = EvmBuild | SolanaBuild

/** The build call of each family of origins, and the fields that its reply must have. */
const BUILD_CALLS: Readonly<Record<Build['origin'], Pick<Call, 'path' | 'expects'>>> = {
  evm: { path: '/swap/build-geo-op', expects: ['geoOpHash', 'geoOpToken'] },
  solana: { path: '/swap/build-solana-tx', expects: ['unsignedTransaction', 'geoOpToken'] },
}

export type BuildOptions = { authorization?: Authorization | undefined; method?: OriginMethod | undefined }

export type Calls = ReturnType<typeof createCalls>

/** The calls of the service. All are retried on transient errors, except those named `once`. */
export function createCalls(connection: Connection, policy: RetryPolicy) {
  const repeat = <Reply>(call: Call) =>
    withRetries({ policy, forMs: policy.forMs, signal: call.signal }, () => send<Reply>(connection, call))

  return {
    ...createReads(connection, repeat),

    chains: ({ signal }: CallOptions = {}) =>
      repeat<ChainsReply>({ method: 'GET', path: '/swap/chains', expects: [], signal }),

    capabilities: ({ signal }: CallOptions = {}) =>
      repeat<CapabilitiesReply>({ method: 'GET', path: '/swap/capabilities', expects: [], signal }),

    tokens: ({ chainId }: TokensQuery = {}, { signal }: CallOptions = {}) => {
      const query = chainId === undefined ? '' : `?chainId=${encodeURIComponent(chainId)}`
      return repeat<TokensReply>({ method: 'GET', path: `/swap/tokens${query}`, expects: [], signal })
    },

    quote: (body: NamedQuoteRequest, { signal }: CallOptions = {}) =>
      repeat<QuoteReply>({
        method: 'POST',
        path: '/swap/quote',
        body,
        signal,
        expects: ['geoQuoteToken', 'origin', 'input', 'output', 'minOutput'],
      }),

    delegation: ({ chainId, walletAddress }: DelegationQuery, { signal }: CallOptions = {}) => {
      const query = new URLSearchParams({ chainId: `${chainId}`, walletAddress })
      const path = `/swap/delegation?${query}`
      return repeat<DelegationReply>({ method: 'GET', path, expects: ['walletAddress'], signal })
    },

    async build(
      { origin, geoQuoteToken }: Pick<QuoteReply, 'origin' | 'geoQuoteToken'>,
      { authorization, method, signal }: CallOptions & BuildOptions = {},
    ): Promise<Build> {
      const body = { geoQuoteToken, authorization, method }
      // A service may name a family that this version does not know: its reply is refused by the checks.
      const call = BUILD_CALLS[origin] ?? BUILD_CALLS.evm
      const reply = await repeat<BuildGeoOpReply & BuildSolanaTxReply>({
        method: 'POST',
        ...call,
        body,
        signal,
      })
      return { origin, ...reply }
    },

    async postOnce(body: Submission, { signal }: CallOptions = {}): Promise<SubmitReply> {
      const reply = await send<SubmitReply>(connection, {
        method: 'POST',
        body,
        signal,
        expects: ['swapId', 'status'],
        path: 'signedTransaction' in body ? '/swap/submit-solana' : '/swap/submit',
      })
      // The id is printed in commands that people copy, so it must be safe in a shell.
      if (!/^[\w-]{1,100}$/.test(reply.swapId)) throw unexpectedReply(200)
      return reply
    },
  }
}
