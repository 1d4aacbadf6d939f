import type { DelegationReply, OriginMethod, QuoteReply, QuoteRequest } from '@geoswap/wire'
import type { Build, Calls } from '../calls.ts'
import type { CheckContext, KnownContracts, Terms } from '../checks/terms.ts'
import type { Submission } from '../errors.ts'
import type { AuthorizationFields, DepositPayment, SignatureLifetime, Signer, ToSign } from '../signers.ts'

/** How a quote is built. `delegation`: the wallet's, if it was read already. */
export type Chosen = { method: OriginMethod; delegation?: DelegationReply | undefined }
export type Builder = (quote: QuoteReply, chosen: Chosen) => Promise<Build>

/** One wallet that pays on one chain, and what its builds need. */
export type BuilderDeps = {
  calls: Pick<Calls, 'delegation' | 'build'>
  signer: Signer
  chainId: number
  signal: AbortSignal | undefined
  /** Returns the delegate of this chain: the pinned one, or `named` once it is verified. */
  getAccount(named: unknown): Promise<string>
  /** The authorization is signed only if it resolves. */
  onSign(fields: AuthorizationFields): Promise<void>
}

export type Choice = {
  calls: Pick<Calls, 'delegation'>
  request: QuoteRequest
  quote: QuoteReply
  signer: Signer
  method: OriginMethod | undefined
  signal: AbortSignal | undefined
}

export type Check = {
  terms: Terms
  context: CheckContext
  method: OriginMethod
  /** Nothing is signed unless it resolves. `life`: of what the wallet is about to sign. */
  onSign(toSign: ToSign, life: SignatureLifetime): Promise<void>
}

export type Signed = {
  submission: Submission
  life: SignatureLifetime
  /** To be sent after the submission, where the input comes in by a transfer. */
  payment?: DepositPayment | undefined
}

/** All that the client of a swap knows of a family of chains. Nothing else asks which family a chain is of. */
export type Family = {
  name: string
  /** The form in which addresses are compared; undefined for a text that is no address of this family. */
  parseAddress(text: string): string | undefined
  /** Whether these contracts suffice to sign on an origin chain, and the words for an option that is missing. */
  isComplete(contracts: KnownContracts): boolean
  whatIsMissing(chainId: number): string
  /** Whether a node of the caller can verify contracts. */
  isVerifiable: boolean
  /** The contracts that a build names, to be verified. */
  namedBy(build: Build): { escrow?: unknown }
  /** How the input comes in, with the quote in the amounts of that way. */
  choose(choice: Choice): Promise<{ chosen: Chosen; quote: QuoteReply; method: OriginMethod | undefined }>
  createBuilder(deps: BuilderDeps): Builder
  /** The only place that asks for a signature for funds, and only for the result of the checks. */
  sign(build: Build, signer: Signer, check: Check): Promise<Signed>
  /** In seconds of the local clock: after it, no chain with a correct clock accepts the signature. */
  lockableUntil(life: SignatureLifetime): number
  /** Whether the chain itself, asked by a node, accepts the signature. */
  isLockable(life: SignatureLifetime, rpcUrl: string): Promise<boolean>
}
