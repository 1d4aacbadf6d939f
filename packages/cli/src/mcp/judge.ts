import { CliError } from '../errors.ts'
import type { Rules } from './rules.ts'
import { formatUsd } from './usd.ts'

export type Facts = {
  /** What the swap is worth; undefined when nobody says. */
  cents: bigint | undefined
  /** What the other swaps of the last 24 hours were worth. */
  spentCents: bigint
  hasHighImpact: boolean
  /** Nothing but the service says how much is paid. */
  isUnbounded: boolean
}

export function assertRecipient(recipient: string, { recipients }: Pick<Rules, 'recipients'>): void {
  if (recipients.has(recipient)) return
  throw new CliError('RECIPIENT_NOT_ALLOWED', `${recipient} is not one of the recipients that are allowed.`, {
    advice:
      'Leave recipient away to pay an own wallet. Only who runs the server can allow another one: --recipients, or ' +
      'geoswap config set mcp.recipients.',
    details: { allowed: [...recipients] },
  })
}

/** Throws where the swap is more than whoever runs the server allows. */
export function assertWithinCaps(
  { cents, spentCents }: Pick<Facts, 'cents' | 'spentCents'>,
  rules: Rules,
): void {
  const { maxSwapCents, maxDayCents, allowsUnknownValue } = rules
  if (cents === undefined) {
    if (allowsUnknownValue) return
    throw new CliError(
      'VALUE_UNKNOWN',
      'What this swap is worth in USD is not known, so no limit can hold.',
      {
        advice: 'Choose tokens with a price. Only who runs the server can allow it: --allow-unknown-value.',
      },
    )
  }
  if (cents > maxSwapCents) {
    throw new CliError(
      'SWAP_CAP',
      `The swap is worth ${formatUsd(cents)}, at most ${formatUsd(maxSwapCents)} is allowed.`,
      { advice: 'Swap less. Only who runs the server can raise it: --max-swap-usd.' },
    )
  }
  const left = maxDayCents > spentCents ? maxDayCents - spentCents : 0n
  if (cents <= left) return
  throw new CliError(
    'DAY_CAP',
    `The swap is worth ${formatUsd(cents)}; of the ${formatUsd(maxDayCents)} for 24 hours, ${formatUsd(left)} is left.`,
    { advice: 'Swap less, or later. Only who runs the server can raise it: --max-day-usd.' },
  )
}

/** Why somebody has to say yes to this swap first; empty when nobody has to. */
export function reasonsToAsk(facts: Omit<Facts, 'spentCents'>, rules: Rules): string[] {
  const { cents, hasHighImpact, isUnbounded } = facts
  const { confirmAboveCents } = rules
  return [
    ...(cents === undefined ? ['its value in USD is not known'] : []),
    ...(cents !== undefined && cents > confirmAboveCents
      ? [`it is worth ${formatUsd(cents)}, more than ${formatUsd(confirmAboveCents)}`]
      : []),
    ...(hasHighImpact ? ['much of its value would be lost, or how much is not known'] : []),
    ...(isUnbounded ? ['how much may be paid is not said: maxPay'] : []),
  ]
}
