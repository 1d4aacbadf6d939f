import {
  type CapabilitiesReply,
  type Capability,
  type OffReason,
  ORIGIN_METHODS,
  product,
  type RateClass,
} from '@geoswap/wire'
import { formatCents } from '../../swap/amount.ts'
import type { Catalog, Market } from '../../swap/catalog.ts'
import { type FeeRules, mostIntegratorFee } from '../../swap/fees.ts'
import { type KeyRules, mayUseContracts } from '../../swap/key-rules.ts'
import { waysOf } from '../../ways/registry.ts'

type Rates = Readonly<Record<RateClass, number>>

export type CapabilityDeps = {
  catalog: Catalog
  market: Pick<Market, 'exposureRoom' | 'fastRoom'>
  /** Parts that the operator may leave out. */
  configured: Readonly<
    Record<'fast' | 'discounts' | 'rebalancing' | 'screening' | 'regions' | 'x402' | 'keyless', boolean>
  >
  fees: Pick<FeeRules, 'accounts'>
  defaultRates: Rates
  limits: Pick<CapabilitiesReply['limits'], 'bodyBytes' | 'heldReads' | 'quoteSeconds' | 'unsubmitted'>
  maxUnsubmittedCents: bigint
  /** Whether events of the account are posted anywhere. */
  hasEndpoint(accountId: string): Promise<boolean>
}

type Caller = {
  accountId: string
  kind?: 'secret' | 'publishable'
  rules: KeyRules
  limits?: Partial<Rates>
}

/** Tells what a key can do here, and why it cannot do the rest. Nothing of other accounts, nor a list of anybody. */
export async function capabilities(deps: CapabilityDeps, caller: Caller): Promise<CapabilitiesReply> {
  const { configured, fees, limits, defaultRates, maxUnsubmittedCents } = deps
  const { accountId, kind, rules } = caller
  // Strangers have a publishable key: it learns nothing about the account.
  const isSecret = kind !== 'publishable'
  const integratorFeeCentiBps = mostIntegratorFee(fees, accountId)
  const usd = (cents: number | undefined) => (cents === undefined ? undefined : formatCents(BigInt(cents)))
  return {
    versions: { service: product.version },
    originMethods: methodsOf(deps.catalog),
    features: {
      fast: fastOf(deps),
      discounts: onlyIf(configured.discounts),
      rebalancing: onlyIf(configured.rebalancing),
      integratorFees: onlyIf(integratorFeeCentiBps > 0, 'ACCOUNT_NOT_ALLOWED'),
      contractWallets: onlyIf(mayUseContracts(caller), 'KEY_NOT_ALLOWED'),
      history: onlyIf(isSecret || rules.wallet !== undefined, 'KEY_NOT_ALLOWED'),
      webhooks: isSecret
        ? onlyIf(await deps.hasEndpoint(accountId), 'NO_ENDPOINT')
        : onlyIf(false, 'KEY_NOT_ALLOWED'),
      publishableKeys: onlyIf(true),
      screening: onlyIf(configured.screening),
      regions: onlyIf(configured.regions),
      x402: onlyIf(configured.x402),
      keyless: onlyIf(configured.keyless),
    },
    limits: {
      ...limits,
      requestsPerSecond: { ...defaultRates, ...caller.limits },
      unsubmittedUsd: formatCents(maxUnsubmittedCents),
      integratorFeeCentiBps,
      swapUsd: usd(rules.maxSwapCents),
      dayUsd: usd(rules.maxDayCents),
      tokens: rules.tokens && [...rules.tokens],
      fixedRecipients: rules.recipients !== undefined,
    },
  }
}

function onlyIf(enabled: boolean, reason: OffReason = 'NOT_CONFIGURED'): Capability {
  return enabled ? { enabled } : { enabled, reason }
}

function methodsOf({ chains }: Catalog): CapabilitiesReply['originMethods'] {
  const all = [...chains.values()]
  const taken = new Set(
    all.flatMap((chain) => chain.tokens.flatMap((token) => waysOf(chain, token).map(({ name }) => name))),
  )
  const entries = ORIGIN_METHODS.map((method) => [method, onlyIf(taken.has(method), 'NO_TOKEN')])
  return Object.fromEntries(entries)
}

/** A chain has a fast way as far as its room is larger than that without a premium. */
function fastOf({ catalog, market, configured }: CapabilityDeps): Capability {
  if (!configured.fast) return onlyIf(false)
  const hasRoom = (chainId: number) => (market.fastRoom?.(chainId) ?? 0n) > market.exposureRoom(chainId)
  return onlyIf([...catalog.chains.keys()].some(hasRoom), 'NO_ROOM')
}
