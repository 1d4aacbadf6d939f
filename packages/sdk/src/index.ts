export type {
  Authorization,
  BuildGeoOpReply,
  BuildSolanaTxReply,
  CapabilitiesReply,
  ChainEntry,
  ChainsReply,
  DelegationQuery,
  DelegationReply,
  ErrorCode,
  Failure,
  HistoryQuery,
  HistoryReply,
  NamedQuoteRequest,
  OriginMethod,
  QuotedMethod,
  QuotedSpeed,
  QuoteReply,
  QuoteRequest,
  Refund,
  Speed,
  StatusReply,
  SubmitReply,
  SwapRecord,
  TokenEntry,
  TokensQuery,
  TokensReply,
  TypedData,
} from '@geoswap/wire'
export type { Build } from './calls.ts'
export type { Difference } from './checks/difference.ts'
export type { SameAsset, SwapLimits } from './checks/quote.ts'
export type { KnownContracts } from './checks/terms.ts'
export { type Client, type ClientOptions, createClient } from './client.ts'
export type { Deposit, DepositOptions } from './deposit.ts'
export type { Submission } from './errors.ts'
export {
  GeoswapError,
  type GeoswapErrorCode,
  PaymentUnknownError,
  plainText,
  type Recovery,
  SubmissionUnknownError,
  type SwapRefusal,
  SwapRefusedError,
  SwapTimeoutError,
  TamperedOperationError,
  type TransportCode,
} from './errors.ts'
export type { CallOptions } from './http.ts'
export { bestMethod } from './methods.ts'
export { intentOf, lockableUntil, type SignatureStore } from './open-signatures.ts'
export { PAYMENT_MARGIN_MS, type Paid, type PayOptions, type PayProgress } from './pay.ts'
export type { PinStore } from './pins.ts'
export type { RetryPolicy } from './retry.ts'
export {
  type AuthorizationFields,
  type AuthorizationSignature,
  type DepositPayment,
  type EvmSigner,
  fromCallbacks,
  fromKitSigner,
  fromTypedData,
  fromViemAccount,
  fromViemWallet,
  type PaymentTransaction,
  type SignatureLifetime,
  type Signer,
  type SolanaSigner,
  type ToSign,
} from './signers.ts'
export type {
  Approval,
  PreparedSwap,
  PrepareOptions,
  SwapOptions,
  SwapProgress,
  SwapRequest,
} from './swap.ts'
export type { EndedSwap, EventsOptions, SwapEvent, WaitOptions } from './wait.ts'
