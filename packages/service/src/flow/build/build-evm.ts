import { DOMAIN_FIELDS, depositAddressOf, geoOpDomain, geoOpTypes } from '@geoswap/protocol'
import type { BuildGeoOpReply, BuildRequest, OriginMethod } from '@geoswap/wire'
import type { Delegation, OriginChain, OriginWays } from '../../chains/chain.ts'
import { ServiceError } from '../../errors.ts'
import { contractRefused } from '../../model/key-rules.ts'
import { isOthers } from '../../model/origin-methods.ts'
import type { Quote } from '../../model/quote.ts'
import type { SignedDelegation } from '../../model/swap.ts'
import { authorizationFor } from './authorization.ts'
import { readHolder, readOrUnavailable } from './read-chain.ts'
import { hasSwap, insufficientBalance, type StoreDeps, storeOnce } from './store-op.ts'
import { getQuoteBy, methodsOfQuote, toPayment } from './ways-in.ts'

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
