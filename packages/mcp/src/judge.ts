import { UserError } from '@geoswap/wallet/errors'
import type { Rules } from './rules.ts'
import { formatUsd } from './usd.ts'

type Facts = {
  /** The value of the swap; undefined if the service reports none. */
  cents: bigint | undefined
  /** The value of the other swaps of the last 24 hours. */
  spentCents: bigint
  hasHighImpact: boolean
  /** True if only the service limits the input. */
  isUnbounded: boolean
}

export function assertRecipient(recipient: string, { recipients }: Pick<Rules, 'recipients'>): void {
  if (recipients.has(recipient)) return
  throw new UserError('RECIPIENT_NOT_ALLOWED', `${recipient} is not an allowed recipient.`, {
    advice:
      'Omit recipient to pay an own wallet. Only the operator of the server can allow another one: --recipients, or ' +
      'geoswap config set mcp.recipients.',
    details: { allowed: [...recipients] },
  })
}

/** Throws if the swap exceeds the operator's limits. */
export function assertWithinCaps(
  { cents, spentCents }: Pick<Facts, 'cents' | 'spentCents'>,
  rules: Rules,
): void {
  const { maxSwapCents, maxDayCents, allowsUnknownValue } = rules
  if (cents === undefined) {
    if (allowsUnknownValue) return
    throw new UserError(
      'VALUE_UNKNOWN',
      'The value of this swap in USD is not known, so no limit can be applied.',
      {
        advice:
          'Choose tokens with a price. Only the operator of the server can allow it: --allow-unknown-value.',
      },
    )
  }
  if (cents > maxSwapCents) {
    throw new UserError(
      'SWAP_CAP',
      `The swap is worth ${formatUsd(cents)}, at most ${formatUsd(maxSwapCents)} is allowed.`,
      { advice: 'Swap less. Only the operator of the server can raise the limit: --max-swap-usd.' },
    )
  }
  const left = maxDayCents > spentCents ? maxDayCents - spentCents : 0n
  if (cents <= left) return
  throw new UserError(
    'DAY_CAP',
    `The swap is worth ${formatUsd(cents)}; of the ${formatUsd(maxDayCents)} for 24 hours, ${formatUsd(left)} is left.`,
    { advice: 'Swap less, or later. Only the operator of the server can raise the limit: --max-day-usd.' },
  )
}

/** The reasons why this swap must be confirmed; empty if it need not be. */
export function reasonsToAsk(facts: Omit<Facts, 'spentCents'>, rules: Rules): string[] {
  const { cents, hasHighImpact, isUnbounded } = facts
  const { confirmAboveCents } = rules
  return [
    ...(cents === undefined ? ['its value in USD is not known'] : []),
    ...(cents !== undefined && cents > confirmAboveCents
      ? [`it is worth ${formatUsd(cents)}, more than ${formatUsd(confirmAboveCents)}`]
      : []),
    ...(hasHighImpact ? ['much of its value would be lost, or the loss is not known'] : []),
    ...(isUnbounded ? ['nothing limits the input: set maxPay'] : []),
  ]
}
