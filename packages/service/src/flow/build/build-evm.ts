import { geoOpDomain, geoOpTypes } from '@geoswap/protocol'
import type { BuildGeoOpReply, BuildRequest } from '@geoswap/wire'
import type { OriginChain } from '../../chains/chain.ts'
import { ServiceError } from '../../errors.ts'
import type { Quote } from '../../model/quote.ts'
import type { SignedDelegation } from '../../model/swap.ts'
import { authorizationFor } from './authorization.ts'
import { readOrUnavailable } from './read-chain.ts'
import { hasSwap, insufficientBalance, type StoreDeps, storeOnce } from './store-op.ts'

type Hex = `0x${string}`
type EvmContracts = { escrow: Hex; vault: Hex; account: Hex }

export type BuildDeps = StoreDeps & {
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

/** Turns a live quote into the hash the wallet signs. The first build stores the op; a second returns it. */
export async function buildGeoOp(
  deps: BuildDeps,
  accountId: string,
  request: BuildRequest,
): Promise<BuildGeoOpReply> {
  const quote = deps.openQuote(accountId, request.geoQuoteToken)
  const origin = deps.catalog.chains.get(quote.originChain)
  if (origin?.family !== 'evm') throw new ServiceError('INVALID_TOKEN')
  if (quote.expiresAt <= deps.now()) throw new ServiceError('QUOTE_EXPIRED')

  const reading = deps
    .originOf(quote.originChain)
    .readWallet({ wallet: quote.wallet, token: quote.inputToken })
  const wallet = await readOrUnavailable(origin, reading)
  const check = {
    wallet: quote.wallet,
    chainId: quote.originChain,
    delegationTarget: deps.contractsOf(quote.originChain).account,
    isSignedBy: deps.isSignedBy,
  }
  const delegation = await authorizationFor(check, wallet.delegation, request.authorization)
  if (!delegation) deps.rememberDelegated(quote.originChain, quote.wallet)
  if (wallet.balance < quote.amountIn && !(await hasSwap(deps.pool, quote)))
    throw insufficientBalance(origin, quote, wallet.balance)

  const op = await storeOnce(deps, accountId, quote, wallet, delegation !== undefined)
  if (delegation && !deps.isForAuthorizations(quote.originChain, op.locker)) throw lostDelegation()
  const sealed = { opId: op.id, expiresAt: op.expiresAt.getTime(), ...(delegation && { delegation }) }
  return {
    geoOpHash: op.hash,
    geoOpToken: deps.sealOp(accountId, sealed),
    expiresAt: op.expiresAt.toISOString(),
    operation: {
      domain: geoOpDomain({ chainId: quote.originChain, ...deps.contractsOf(quote.originChain) }),
      types: typesWithDomain,
      primaryType: 'GeoOp',
      message: op.terms as Record<string, unknown>,
    },
  }
}

/** The op names a locker for delegated wallets, and this wallet is no longer delegated. */
function lostDelegation(): ServiceError {
  return new ServiceError('QUOTE_EXPIRED', {
    message: 'The wallet was delegated when this quote was built first, and no longer is. Quote again.',
  })
}

// Wallets that follow EIP-712's JSON form read the domain's fields from here.
const typesWithDomain = {
  EIP712Domain: [
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' },
    { name: 'verifyingContract', type: 'address' },
  ],
  GeoOp: [...geoOpTypes.GeoOp],
  Delivery: [...geoOpTypes.Delivery],
}
