import type { QuoteReply } from '@geoswap/sdk'
import type { Context } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import { parseAnyAddress } from '@geoswap/wallet/families/registry'
import type { McpSetting } from '@geoswap/wallet/store/config-file'

/** Parses dollars with up to two decimals into cents. Undefined if invalid or negative. */
export function parseCents(text: string): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d{1,15})(?:\.(\d{1,2}))?$/.exec(text) ?? []
  return whole === undefined ? undefined : BigInt(whole + fraction.padEnd(2, '0'))
}

export function formatUsd(cents: bigint): string {
  const digits = cents.toString().padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)} USD`
}

/**
 * The value that counts towards the limits: the larger of input and output. Undefined if the service reports
 * no value of the input.
 */
export function valueCentsOf({
  inputUsd,
  outputUsd,
}: Pick<QuoteReply, 'inputUsd' | 'outputUsd'>): bigint | undefined {
  const paid = inputUsd === undefined ? undefined : parseCents(inputUsd)
  if (paid === undefined) return undefined
  const bought = (outputUsd === undefined ? undefined : parseCents(outputUsd)) ?? 0n
  return paid > bought ? paid : bought
}

/** The operator's limits for a language model that spends their funds. */
export type Rules = {
  maxSwapCents: bigint
  /** For any 24 hours. */
  maxDayCents: bigint
  confirmAboveCents: bigint
  recipients: ReadonlySet<string>
  allowsUnknownValue: boolean
  waitMs: number
}

/** Values by setting, from flags, environment or configuration, in this order. */
export type GivenRules = Readonly<Partial<Record<McpSetting, string | undefined>>>

export function mergeGiven(flags: GivenRules, { mcp, config }: Pick<Context, 'mcp' | 'config'>): GivenRules {
  const kept = Object.entries(config.read()).flatMap(([key, value]) =>
    key.startsWith('mcp.') ? [[key.slice('mcp.'.length), value] as const] : [],
  )
  const said = [...kept, ...Object.entries(mcp), ...Object.entries(flags)]
  return Object.fromEntries(said.filter(([, value]) => value !== undefined))
}

const DEFAULTS = { maxSwapUsd: '100', maxDayUsd: '1000', confirmAboveUsd: '25', waitSeconds: '45' }
const MAX_WAIT_SECONDS = 600

/** `own` are the addresses of the local wallets, which may always be paid. */
export function toRules(
  given: GivenRules,
  own: readonly string[],
  find: (name: string) => string | undefined,
): Rules {
  const named = listOf(given.recipients).map((text) => readRecipient(text, find))
  return {
    maxSwapCents: readUsd(given, 'maxSwapUsd'),
    maxDayCents: readUsd(given, 'maxDayUsd'),
    confirmAboveCents: readUsd(given, 'confirmAboveUsd'),
    recipients: new Set([...own, ...named]),
    allowsUnknownValue: readFlag(given, 'allowUnknownValue'),
    waitMs: readSeconds(given.waitSeconds ?? DEFAULTS.waitSeconds) * 1_000,
  }
}

export function listOf(text: string | undefined): string[] {
  return (text ?? '').split(',').flatMap((part) => part.trim() || [])
}

function readUsd(given: GivenRules, name: 'maxSwapUsd' | 'maxDayUsd' | 'confirmAboveUsd'): bigint {
  const text = given[name] ?? DEFAULTS[name]
  const cents = parseCents(text)
  if (cents === undefined) throw unreadable(name, text, 'Write dollars, such as 100 or 2.50.')
  return cents
}

function readFlag(given: GivenRules, name: McpSetting): boolean {
  const text = given[name] ?? 'false'
  if (text !== 'true' && text !== 'false') throw unreadable(name, text, 'It is true or false.')
  return text === 'true'
}

function readSeconds(text: string): number {
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : -1
  if (seconds < 0 || seconds > MAX_WAIT_SECONDS)
    throw unreadable('waitSeconds', text, `It is a number from 0 to ${MAX_WAIT_SECONDS}.`)
  return seconds
}

function readRecipient(text: string, find: (name: string) => string | undefined): string {
  const address = parseAnyAddress(text) ?? find(text)
  if (address !== undefined) return address
  throw unreadable('recipients', text, 'They are addresses or names of wallets, separated by commas.')
}

function unreadable(name: McpSetting, text: string, advice: string): UserError {
  return new UserError('USAGE', `${text} is not a value for ${name}.`, { advice })
}

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

const HIGH_LOSS_BPS = 500

/** Of a swap before a payment: whether its input is worth much more than the price. */
export function losesMuch(swap: { lossBps: number | undefined } | undefined): boolean {
  return swap !== undefined && (swap.lossBps === undefined || swap.lossBps >= HIGH_LOSS_BPS)
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
