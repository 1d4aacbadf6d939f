import { isAddressOf, toCanonical } from '@geoswap/wallet/catalog'
import type { Context } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import type { McpSetting } from '@geoswap/wallet/store/config-file'
import { parseCents } from './usd.ts'

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
  for (const family of ['evm', 'solana'] as const)
    if (isAddressOf(family, text)) return toCanonical(family, text)
  const address = find(text)
  if (address !== undefined) return address
  throw unreadable('recipients', text, 'They are addresses or names of wallets, separated by commas.')
}

function unreadable(name: McpSetting, text: string, advice: string): UserError {
  return new UserError('USAGE', `${text} is not a value for ${name}.`, { advice })
}
