import {
  authorizationOf,
  DOMAIN_FIELDS,
  depositAddressOf,
  geoOpDomain,
  geoOpTypes,
  permitOf,
  toTokenTypedData,
} from '@geoswap/protocol'
import type { BuildGeoOpReply, BuildRequest, OriginMethod } from '@geoswap/wire'
import type { Delegation, OriginChain, OriginWays } from '../../chains/chain.ts'
import { ServiceError } from '../../errors.ts'
import type { StoredOp } from '../../store/ops.ts'
import { type Catalog, type CatalogChain, findToken, type Token } from '../../swap/catalog.ts'
import { contractRefused } from '../../swap/key-rules.ts'
import { canPayBy, isOthers, methodsFor, type WalletCode } from '../../swap/origin-methods.ts'
import { type Quote, quoteBy } from '../../swap/quote.ts'
import type { SignedDelegation } from '../../swap/swap.ts'
import { readHolder, readOrUnavailable } from './delegation.ts'
import { hasSwap, insufficientBalance, type StoreDeps, storeOnce } from './store-op.ts'

type Hex = `0x${string}`
type EvmContracts = { escrow: Hex; vault: Hex; account: Hex }

export type BuildDeps = StoreDeps & {
  deadlines: { depositSeconds: number }
  originOf(chainId: number): OriginChain
  contractsOf(chainId: number): EvmContracts
  isSignedBy(wallet: string, signed: SignedDelegation): Promise<boolean>
  openQuote(accountId: string, token: string): Quote
  sealOp(accountId: string, op: SealedOp): string
  rememberDelegated(chainId: number, wallet: string): void
  /** Whether this key takes inputs with an authorization; other keys never do. */
  isForAuthorizations(chainId: number, locker: string): boolean
  now(): number
}

/**
 * The content of a sealed op token, sufficient to submit without further fields. `expiresAt` is in milliseconds and
 * absent from tokens of earlier versions.
 */
export type SealedOp = { opId: string; expiresAt?: number; delegation?: SignedDelegation }

/** Turns a live quote into the op that the wallet pays for. The first build stores the op; a second returns it. */
export async function buildGeoOp(
  deps: BuildDeps,
  accountId: string,
  { geoQuoteToken, authorization, method = 'delegation' }: BuildRequest,
  mayUseContracts = true,
): Promise<BuildGeoOpReply> {
  const sealed = deps.openQuote(accountId, geoQuoteToken)
  const origin = deps.catalog.chains.get(sealed.originChain)
  if (origin?.family !== 'evm') throw new ServiceError('INVALID_TOKEN')
  if (sealed.expiresAt <= deps.now()) throw new ServiceError('QUOTE_EXPIRED')

  const chain = deps.originOf(sealed.originChain)
  const held = { wallet: sealed.wallet, token: sealed.inputToken }
  // A deposit comes from anywhere.
  const due = method === 'deposit' ? 0n : sealed.amountIn
  const wallet = await readHolder(origin, due, () => chain.readWallet(held))
  const methods = methodsOfQuote(deps.catalog, sealed, wallet.delegation.kind)
  const delegation =
    method === 'delegation'
      ? await delegationOf(deps, { quote: sealed, state: wallet.delegation, authorization, methods })
      : undefined
  const quote = getQuoteBy(sealed, method, methods)
  const isShort = method !== 'deposit' && wallet.balance < quote.amountIn
  if (isShort && !(await hasSwap(deps.pool, quote))) throw insufficientBalance(origin, quote, wallet.balance)

  const contracts = deps.contractsOf(quote.originChain)
  const isContract = method === 'authorization' && isOthers(wallet.delegation.kind)
  if (isContract && !mayUseContracts) throw contractRefused()
  const op = await storeOnce(deps, accountId, quote, wallet, {
    method,
    isAuthorized: delegation !== undefined,
    isContract,
    ...(method === 'permit' && {
      permitNonce: await readOrUnavailable(
        origin,
        waysOf(chain).readPermitNonce(quote.inputToken, quote.wallet),
      ),
    }),
    ...((method === 'deposit' || method === 'permit') && {
      depositAddressOf: (hash: string) => depositAddressOf(contracts.escrow, hash as Hex),
    }),
  })
  if ((op.method ?? 'delegation') !== method) throw builtOtherwise(op.method)
  if (delegation && !deps.isForAuthorizations(quote.originChain, op.locker)) throw lostDelegation()
  const content = { opId: op.id, expiresAt: op.expiresAt.getTime(), ...(delegation && { delegation }) }
  return {
    geoOpHash: op.hash,
    geoOpToken: deps.sealOp(accountId, content),
    expiresAt: op.expiresAt.toISOString(),
    operation: {
      domain: geoOpDomain({ chainId: quote.originChain, ...contracts }),
      types: typesWithDomain,
      primaryType: 'GeoOp',
      message: op.terms as Record<string, unknown>,
    },
    method,
    ...toPayment({ chain: origin, escrow: contracts.escrow, quote, op }),
  }
}

function waysOf({ ways, chainId }: OriginChain): OriginWays {
  if (!ways) throw new Error(`Chain ${chainId} has no other ways for an input`)
  return ways
}

type Delegating = {
  quote: Quote
  state: Delegation
  authorization: SignedDelegation | undefined
  methods: readonly OriginMethod[]
}

/** The authorization that the op has to carry; undefined for a wallet that is delegated to us. */
async function delegationOf(deps: BuildDeps, { quote, state, authorization, methods }: Delegating) {
  const { originChain: chainId, wallet } = quote
  const delegationTarget = deps.contractsOf(chainId).account
  const others = methods.filter((method) => method !== 'delegation')
  const check = { wallet, chainId, delegationTarget, isSignedBy: deps.isSignedBy, methods: others }
  const delegation = await authorizationFor(check, state, authorization)
  if (!delegation) deps.rememberDelegated(chainId, wallet)
  return delegation
}

function builtOtherwise(method: OriginMethod | undefined): ServiceError {
  return new ServiceError('QUOTE_EXPIRED', {
    message: `This quote was built before, by ${method ?? 'delegation'}. Quote again to pay in another way.`,
  })
}

/** The op names a locker for delegated wallets, and this wallet is no longer delegated. */
function lostDelegation(): ServiceError {
  return new ServiceError('QUOTE_EXPIRED', {
    message: 'The wallet was delegated when this quote was built first, and no longer is. Quote again.',
  })
}

// Wallets that follow EIP-712's JSON form read the domain's fields from here.
const typesWithDomain = {
  EIP712Domain: [...DOMAIN_FIELDS],
  GeoOp: [...geoOpTypes.GeoOp],
  Delivery: [...geoOpTypes.Delivery],
}

/** The ways of a quote that a wallet with this code has. */
function methodsOfQuote(catalog: Catalog, quote: Quote, code: WalletCode): OriginMethod[] {
  const { origin, input, output } = routeOf(catalog, quote)
  const methods = methodsFor(catalog, { origin, input, output })
  return methods.filter((method) => canPayBy(method, code) && quoteBy(quote, method) !== undefined)
}

function routeOf({ chains }: Catalog, quote: Quote) {
  const [origin, destination] = [chains.get(quote.originChain), chains.get(quote.destinationChain)]
  const input = origin && findToken(origin, quote.inputToken)
  const output = destination && findToken(destination, quote.outputToken)
  // A quote lives for seconds: its route is configured unless the service was changed meanwhile.
  if (!origin || !input || !output) throw new ServiceError('QUOTE_EXPIRED')
  return { origin, input, output }
}

/** The quote with the amounts of the way asked for. */
function getQuoteBy(quote: Quote, method: OriginMethod, methods: readonly OriginMethod[]): Quote {
  const priced = methods.includes(method) ? quoteBy(quote, method) : undefined
  if (priced) return priced
  const why = methods.length > 0 ? `It can by ${methods.join(', ')}` : 'It has no other way'
  throw new ServiceError('UNSUPPORTED_METHOD', {
    message: `This input of this wallet cannot come in by ${method}. ${why}.`,
    recovery: { methods },
  })
}

type Built = { chain: CatalogChain; escrow: Hex; quote: Quote; op: StoredOp }
type SignedTerms = Record<'wallet' | 'inputAmount' | 'opDeadline', string>

/** The fields of a build reply that tell how to pay: typed data to sign, or an address. */
function toPayment({ chain, escrow, quote, op }: Built): Partial<BuildGeoOpReply> {
  const { method, permitNonce } = op
  const hash = op.hash as Hex
  if (method === 'deposit')
    return { depositAddress: depositAddressOf(escrow, hash), depositUntil: op.expiresAt.toISOString() }
  if (method !== 'authorization' && method !== 'permit') return {}
  const domain = domainOf(chain, quote)
  const signed = op.terms as SignedTerms
  const paid = {
    wallet: signed.wallet as Hex,
    inputAmount: BigInt(signed.inputAmount),
    opDeadline: BigInt(signed.opDeadline),
  }
  if (method === 'authorization') {
    const message = authorizationOf({ escrow }, hash, paid)
    return { typedData: toTokenTypedData(domain, { primaryType: 'ReceiveWithAuthorization', message }) }
  }
  const message = permitOf({ escrow }, hash, { ...paid, nonce: permitNonce ?? 0n })
  return { typedData: toTokenTypedData(domain, { primaryType: 'Permit', message }) }
}

function domainOf(chain: CatalogChain, { inputToken }: Quote) {
  const signing = (findToken(chain, inputToken) as Token | undefined)?.signing
  if (!signing) throw new ServiceError('QUOTE_EXPIRED')
  const { name, version } = signing
  return { name, version, chainId: chain.chainId, verifyingContract: inputToken as Hex }
}

type AuthorizationCheck = {
  wallet: string
  chainId: number
  delegationTarget: string
  isSignedBy(wallet: string, signed: SignedDelegation): Promise<boolean>
  /** Other ways in which this wallet can pay. */
  methods: readonly OriginMethod[]
}

/**
 * Returns the authorization that this operation has to carry: undefined if the wallet is already delegated to us.
 * Otherwise checks that the given one is for this chain, our delegate and the account's current nonce, and signed by
 * the wallet. Refuses a wallet with other code, which is never replaced.
 */
export async function authorizationFor(
  check: AuthorizationCheck,
  state: Delegation,
  given: SignedDelegation | undefined,
): Promise<SignedDelegation | undefined> {
  if (state.kind === 'ours' || state.kind === 'unneeded') return undefined
  if (state.kind === 'foreign' || state.kind === 'contract')
    throw new ServiceError('UNSUPPORTED_DELEGATION', { recovery: { methods: check.methods } })
  if (!given) throw needsDelegation(check, state)
  const isForUs = given.chainId === check.chainId && sameAddress(given.address, check.delegationTarget)
  if (!isForUs || !(await check.isSignedBy(check.wallet, given))) {
    throw new ServiceError('INVALID_AUTHORIZATION_SIGNATURE', { recovery: fieldsToSign(check, state) })
  }
  if (given.nonce !== state.nonce || state.pendingNonce !== state.nonce)
    throw staleAuthorization(check, state)
  return { ...given, address: check.delegationTarget }
}

type Undelegated = Extract<Delegation, { kind: 'none' | 'older' }>

function fieldsToSign(check: AuthorizationCheck, state: Undelegated) {
  const { chainId, delegationTarget } = check
  return { chainId, delegationTarget, accountNonce: state.nonce }
}

function needsDelegation(check: AuthorizationCheck, state: Undelegated): ServiceError {
  const { methods } = check
  return new ServiceError('NEEDS_DELEGATION', { recovery: { ...fieldsToSign(check, state), methods } })
}

function staleAuthorization(check: AuthorizationCheck, state: Undelegated): ServiceError {
  const isPending = state.pendingNonce !== state.nonce
  return new ServiceError('INVALID_AUTHORIZATION', {
    ...(isPending && {
      message:
        'The wallet has a transaction of its own pending. Wait for it, sign a fresh authorization, rebuild.',
    }),
    recovery: fieldsToSign(check, state),
  })
}

const sameAddress = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
