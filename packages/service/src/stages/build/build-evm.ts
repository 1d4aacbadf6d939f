import { DOMAIN_FIELDS, depositAddressOf, geoOpDomain, geoOpTypes } from '@geoswap/protocol'
import type { BuildGeoOpReply, BuildRequest, InputMethod } from '@geoswap/wire'
import type { OriginChain, OriginWays } from '../../chains/chain.ts'
import { ServiceError } from '../../errors.ts'
import { type Catalog, findToken } from '../../swap/catalog.ts'
import { contractRefused } from '../../swap/key-rules.ts'
import { type Quote, quoteBy } from '../../swap/quote.ts'
import { isPayment, type SignedDelegation, type WayName } from '../../swap/swap.ts'
import { evmWayOf, paymentsFor, waysFor } from '../../ways/registry.ts'
import { isOthers, type WalletCode } from '../../ways/way.ts'
import { readHolder, readOrUnavailable } from './delegation.ts'
import { hasSwap, insufficientBalance, type StoreDeps, storeOnce } from './store-op.ts'

type Hex = `0x${string}`
type EvmContracts = { escrow: Hex; vault: Hex; account: Hex }

export type BuildDeps = StoreDeps & {
  deadlines: { depositSeconds: number }
  originOf(chainId: number): OriginChain
  /** Undefined on a chain where the wallet signs the transaction that takes its input. */
  contractsOf(chainId: number): EvmContracts | undefined
  openQuote(accountId: string, token: string): Quote
  sealOp(accountId: string, op: SealedOp): string
  rememberDelegated(chainId: number, wallet: string): void
  /** Whether this key takes inputs with a delegation; other keys never do. */
  isForDelegations(chainId: number, locker: string): boolean
  now(): number
}

/**
 * The content of a sealed op token, sufficient to submit without further fields. `expiresAt` is in milliseconds and
 * absent from tokens of earlier versions.
 */
export type SealedOp = { opId: string; expiresAt?: number; delegation?: SignedDelegation }

/** Also by a payment, which no caller of build may name. */
export type WayRequest = Omit<BuildRequest, 'method'> & { method?: InputMethod | undefined }

/** Turns a live quote into the op that the wallet pays for. The first build stores the op; a second returns it. */
export async function buildGeoOp(
  deps: BuildDeps,
  accountId: string,
  { geoQuoteToken, authorization, method = 'delegation' }: WayRequest,
  mayUseContracts = true,
): Promise<BuildGeoOpReply> {
  const sealed = deps.openQuote(accountId, geoQuoteToken)
  const origin = deps.catalog.chains.get(sealed.originChain)
  const contracts = origin && deps.contractsOf(sealed.originChain)
  if (!origin || !contracts) throw new ServiceError('INVALID_TOKEN')
  if (sealed.expiresAt <= deps.now()) throw new ServiceError('QUOTE_EXPIRED')

  const way = evmWayOf(method)
  // For others, the input may come from anywhere.
  const isPaidByWallet = way.payer === 'wallet'
  const chain = deps.originOf(sealed.originChain)
  const held = { wallet: sealed.wallet, token: sealed.inputToken }
  const due = isPaidByWallet ? sealed.amountIn : 0n
  const wallet = await readHolder(origin, due, () => chain.readWallet(held))
  const methods = methodsOfQuote(deps.catalog, sealed, wallet.delegation.kind)
  const delegation = await way.getDelegation?.(
    {
      wallet: sealed.wallet,
      chainId: sealed.originChain,
      delegationTarget: contracts.account,
      others: methods.filter((other) => other !== method),
    },
    wallet.delegation,
    authorization,
  )
  if (way.getDelegation && !delegation) deps.rememberDelegated(sealed.originChain, sealed.wallet)
  const quote = getQuoteBy(sealed, method, methods)
  // A payer of x402 may swap to the input first. The submission judges whether it holds it.
  const isShort = isPaidByWallet && !isPayment({ method }) && wallet.balance < quote.amountIn
  if (isShort && !(await hasSwap(deps.pool, quote))) throw insufficientBalance(origin, quote, wallet.balance)

  const isContract = way.signs !== 'nothing' && isOthers(wallet.delegation.kind)
  if (isContract && !mayUseContracts) throw contractRefused()
  const nonce = way.readPermitNonce?.(chainWaysOf(chain), quote)
  const op = await storeOnce(deps, accountId, quote, wallet, {
    method,
    hasDelegation: delegation !== undefined,
    isContract,
    permitNonce: nonce && (await readOrUnavailable(origin, nonce)),
    depositAddressOf: (hash) =>
      way.usesAddress ? depositAddressOf(contracts.escrow, hash as Hex) : undefined,
  })
  if (op.method !== method) throw builtOtherwise(op.method)
  if (delegation && !deps.isForDelegations(quote.originChain, op.locker)) throw lostDelegation()
  const content = { opId: op.id, expiresAt: op.expiresAt.getTime(), delegation }
  return {
    geoOpHash: op.hash,
    geoOpToken: deps.sealOp(accountId, content),
    expiresAt: op.expiresAt.toISOString(),
    externalId: quote.externalId,
    operation: {
      domain: geoOpDomain({ chainId: quote.originChain, ...contracts }),
      types: typesWithDomain,
      primaryType: 'GeoOp',
      message: op.terms as Record<string, unknown>,
    },
    method,
    ...way.toPayment({ chain: origin, escrow: contracts.escrow, quote, op }),
  }
}

function chainWaysOf({ ways, chainId }: OriginChain): OriginWays {
  if (!ways) throw new Error(`Chain ${chainId} has no other ways for an input`)
  return ways
}

function builtOtherwise(method: WayName): ServiceError {
  return new ServiceError('QUOTE_EXPIRED', {
    message: `This quote was built before, by ${method}. Quote again to pay in another way.`,
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
function methodsOfQuote(catalog: Catalog, quote: Quote, code: WalletCode): InputMethod[] {
  const { origin, input, output } = routeOf(catalog, quote)
  const all = [...waysFor(catalog, { origin, input, output }), ...paymentsFor({ origin, input })]
  const ways = all.filter((way) => way.canPay(code))
  return ways.map(({ name }) => name).filter((method) => quoteBy(quote, method) !== undefined)
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
function getQuoteBy(quote: Quote, method: InputMethod, methods: readonly InputMethod[]): Quote {
  const priced = methods.includes(method) ? quoteBy(quote, method) : undefined
  if (priced) return priced
  const why = methods.length > 0 ? `It can by ${methods.join(', ')}` : 'It has no other way'
  throw new ServiceError('UNSUPPORTED_METHOD', {
    message: `This input of this wallet cannot come in by ${method}. ${why}.`,
    recovery: { methods },
  })
}
