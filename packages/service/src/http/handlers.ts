import type {
  BuildGeoOpReply,
  BuildRequest,
  BuildSolanaTxReply,
  DelegationQuery,
  DelegationReply,
  QuoteReply,
  QuoteRequest,
  SubmitReply,
  SubmitRequest,
  SubmitSolanaRequest,
} from '@geoswap/wire'

/** Who calls. The account owns tokens and swaps; the key is for logs and metrics. */
export type Caller = { accountId: string; keyId: string; requestId: string }

type Answer<Reply> = Reply | Promise<Reply>

/** What the flow offers to HTTP. Every function may throw a ServiceError. */
export type Handlers = {
  quote(caller: Caller, body: QuoteRequest): Answer<QuoteReply>
  delegation(caller: Caller, query: DelegationQuery): Answer<DelegationReply>
  buildGeoOp(caller: Caller, body: BuildRequest): Answer<BuildGeoOpReply>
  buildSolanaTx(caller: Caller, body: BuildRequest): Answer<BuildSolanaTxReply>
  submit(caller: Caller, body: SubmitRequest): Answer<SubmitReply>
  submitSolana(caller: Caller, body: SubmitSolanaRequest): Answer<SubmitReply>
}
