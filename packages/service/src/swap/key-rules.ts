import { ServiceError } from '../errors.ts'
import { formatBoth, formatCents, largest } from './amount.ts'
import type { QuotedTerms } from './quote.ts'

/** Limits of one API key. A missing one does not limit. See docs/decisions.md#publishable-keys. */
export type KeyRules = {
  /** The most that one swap may be worth, in cents. */
  maxSwapCents?: number
  /** The most that all swaps submitted in one UTC day may be worth, in cents. */
  maxDayCents?: number
  /** The most that the swaps which one wallet pays for in one UTC day may be worth, in cents. */
  maxWalletDayCents?: number
  recipients?: readonly string[]
  /** Tokens as `chainId:address`; input and output have to be among them. */
  tokens?: readonly string[]
  /** The only wallet that may pay: it signed the request, and has no key. */
  wallet?: string
  /** Whether wallets with code of others may pay. Default: not with a publishable key, which strangers have. */
  contractWallets?: boolean
}

type Key = { kind?: 'secret' | 'publishable'; rules: KeyRules }

export const mayUseContracts = ({ kind, rules }: Key): boolean =>
  rules.contractWallets ?? kind !== 'publishable'

export function contractRefused(): ServiceError {
  return new ServiceError('FORBIDDEN', {
    message: 'This API key takes no contract wallets. Use another wallet, or a key that may.',
    details: { contractWallets: false },
  })
}

/** The terms of a swap that rules are about. */
export type RuledTerms = Pick<
  QuotedTerms,
  'originChain' | 'destinationChain' | 'inputToken' | 'outputToken' | 'wallet' | 'recipient'
>

/** Throws if the key may not pay this recipient, or not swap these tokens, or not those of this wallet. */
export function assertAllowed({ wallet, recipients, tokens }: KeyRules, terms: RuledTerms): void {
  assertOwn({ wallet }, terms.wallet)
  const { recipient } = terms
  if (recipients && !recipients.includes(recipient)) {
    throw new ServiceError('FORBIDDEN', {
      message: `This API key may not pay ${recipient}. Use a recipient that the operator allowed.`,
      details: { recipient },
    })
  }
  const swapped = [
    tokenName(terms.originChain, terms.inputToken),
    tokenName(terms.destinationChain, terms.outputToken),
  ]
  const refused = tokens && swapped.find((token) => !tokens.includes(token))
  if (refused === undefined) return
  throw new ServiceError('FORBIDDEN', {
    message: `This API key may not swap ${refused}. Use tokens that the operator allowed.`,
    details: { token: refused, allowed: tokens },
  })
}

/** Throws if the caller signs its requests as another wallet. */
export function assertOwn({ wallet }: Pick<KeyRules, 'wallet'>, named: string | undefined): void {
  if (wallet === undefined || named === undefined || named === wallet) return
  throw new ServiceError('FORBIDDEN', {
    message: `${wallet} signed this request: it has no swaps of ${named}. Name ${wallet}, or use an API key.`,
    details: { wallet },
  })
}

export const tokenName = (chainId: number, address: string): string => `${chainId}:${address}`

/** The most that a key may still swap, in cents, and the limit that says so. */
export type Allowance = { cents: bigint; limit: 'swap' | 'day' | 'wallet' }

/** Undefined without a limit. `spentCents`: what swaps of this day are worth, of the key and of the wallet. */
export function allowanceOf(rules: KeyRules, spentCents: bigint, ofWallet = 0n): Allowance | undefined {
  const { maxSwapCents, maxDayCents, maxWalletDayCents } = rules
  const left = (limit: Allowance['limit'], most: number | undefined, spent: bigint) =>
    most === undefined ? [] : [{ cents: largest(BigInt(most) - spent, 0n), limit }]
  const [first, ...others] = [
    ...left('swap', maxSwapCents, 0n),
    ...left('day', maxDayCents, spentCents),
    ...left('wallet', maxWalletDayCents, ofWallet),
  ]
  return first && others.reduce((least, next) => (next.cents < least.cents ? next : least), first)
}

/** 422 for a swap above the allowance. `maxAmount` is of the token that the request has its amount in, if known. */
export function beyondAllowance(
  { cents, limit }: Allowance,
  maxAmount: bigint,
  token?: { decimals: number; symbol: string },
): ServiceError {
  const usd = formatCents(cents)
  const most = token ? formatBoth(maxAmount, token) : 'recovery.maxAmount'
  const isSpent = limit !== 'swap' && maxAmount === 0n
  const whose = limit === 'wallet' ? 'wallet' : 'API key'
  const which = limit === 'swap' ? `at most ${usd} USD per swap` : `${usd} USD more until 00:00 UTC`
  return new ServiceError('KEY_LIMIT_EXCEEDED', {
    message: `This ${whose} may swap ${which}. ${isSpent ? 'Try again then.' : `Use at most ${most}.`}`,
    details: { limit, usd },
    recovery: { maxAmount: maxAmount.toString() },
  })
}
