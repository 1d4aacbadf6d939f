import type {
  BuildGeoOpReply,
  BuildSolanaTxReply,
  ChainsReply,
  DelegationReply,
  QuoteReply,
  StatusReply,
  SubmitReply,
  TokensReply,
} from '@geoswap/wire'

type Replies = {
  chains: ChainsReply
  tokens: TokensReply
  quote: QuoteReply
  build: BuildGeoOpReply
  buildSolana: BuildSolanaTxReply
  submit: SubmitReply
  status: StatusReply
  delegation: DelegationReply
}

/** Any reply of the API: the body of an error has a code. */
export type Answer<Body> = {
  status: number
  headers: Headers
  body: Body & { code?: string; message?: string; recovery?: Record<string, unknown>; details?: unknown }
}

export type ApiClient = ReturnType<typeof createApiClient>

export type Call = <Body>(
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer<Body>>
type Access = { apiUrl: string; apiKey: string }

export function createCall({ apiUrl, apiKey }: Access, send: typeof fetch = fetch): Call {
  return async (method, path, body, headers) => {
    const response = await send(`${apiUrl}${path}`, {
      method,
      headers: {
        'x-api-key': apiKey,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : {} }
  }
}

/** The HTTP interface as an external caller uses it; `call` may check every reply. */
export function createApiClient(access: Access, call: Call = createCall(access)) {
  return {
    call,
    chains: () => call<Replies['chains']>('GET', '/swap/chains'),
    tokens: (chainId?: number) =>
      call<Replies['tokens']>('GET', `/swap/tokens${chainId === undefined ? '' : `?chainId=${chainId}`}`),
    quote: (body: object) => call<Replies['quote']>('POST', '/swap/quote', body),
    delegation: (chainId: number, wallet: string) =>
      call<Replies['delegation']>('GET', `/swap/delegation?chainId=${chainId}&walletAddress=${wallet}`),
    build: (body: object) => call<Replies['build']>('POST', '/swap/build-geo-op', body),
    buildSolana: (body: object) => call<Replies['buildSolana']>('POST', '/swap/build-solana-tx', body),
    submit: (body: object) => call<Replies['submit']>('POST', '/swap/submit', body),
    submitSolana: (body: object) => call<Replies['submit']>('POST', '/swap/submit-solana', body),
    status: (swapId: string, wait?: number) =>
      call<Replies['status']>('GET', `/swap/status/${swapId}${wait === undefined ? '' : `?wait=${wait}`}`),
  }
}
