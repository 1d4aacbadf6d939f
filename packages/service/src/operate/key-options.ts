import { RATE_CLASSES } from '@geoswap/wire'
import { parseEvmAddress } from '../chains/evm/address.ts'
import { parseSolanaAddress } from '../chains/solana/address.ts'
import { UsageError } from '../command.ts'
import { type KeyRules, tokenName } from '../model/key-rules.ts'
import { isWebOrigin } from '../model/web-origin.ts'
import type { Limits } from '../store/accounts.ts'

/** Options of `create` and `update` alike. */
export const settingOptions = {
  limit: { type: 'string', multiple: true },
  rate: { type: 'string' },
  origin: { type: 'string', multiple: true },
  'max-swap-usd': { type: 'string' },
  'max-day-usd': { type: 'string' },
  recipient: { type: 'string', multiple: true },
  token: { type: 'string', multiple: true },
  'contract-wallets': { type: 'string' },
} as const

export type SettingFlags = {
  limit?: string[]
  rate?: string
  origin?: string[]
  'max-swap-usd'?: string
  'max-day-usd'?: string
  recipient?: string[]
  token?: string[]
  'contract-wallets'?: string
}

export const SETTINGS_HELP = `--limit sets the calls per second of the account by class: ${RATE_CLASSES.join(', ')};
      --rate sets all of them. Bursts may be twice as large.
      --max-swap-usd and --max-day-usd limit the value of one swap, and of all that the key submits in a UTC day.
      --recipient, repeated, limits whom the key may pay; --token CHAIN_ID:ADDRESS, repeated, limits which tokens
      it may swap from and to. --contract-wallets yes or no: whether wallets with code of others may pay; none is yes
      for secret keys and no for publishable ones.`

const NONE = 'none'

/** A rule that is null is removed; a rule that was not given is absent. */
type GivenRules = { [Rule in keyof KeyRules]: KeyRules[Rule] | null }

export function parseRules(flags: SettingFlags): GivenRules {
  const { 'max-swap-usd': swap, 'max-day-usd': day, recipient, token, 'contract-wallets': contracts } = flags
  return {
    ...(swap !== undefined && { maxSwapCents: parseCents('--max-swap-usd', swap) }),
    ...(day !== undefined && { maxDayCents: parseCents('--max-day-usd', day) }),
    ...(recipient && { recipients: parseList(recipient, parseRecipient) }),
    ...(token && { tokens: parseList(token, parseToken) }),
    ...(contracts !== undefined && { contractWallets: parseAnswer('--contract-wallets', contracts) }),
  }
}

export function withoutNull(rules: GivenRules): KeyRules {
  return Object.fromEntries(Object.entries(rules).filter(([, rule]) => rule !== null))
}

function parseCents(option: string, text: string): number | null {
  if (text === NONE) return null
  const cents = /^\d{1,12}(\.\d{1,2})?$/.test(text) ? Math.round(Number(text) * 100) : 0
  if (cents > 0) return cents
  throw new UsageError(`${option} ${text}: write US dollars such as 100 or 99.50, or ${NONE}.`)
}

function parseAnswer(option: string, text: string): boolean | null {
  if (text === NONE) return null
  if (text === 'yes' || text === 'no') return text === 'yes'
  throw new UsageError(`${option} ${text}: write yes, no or ${NONE}.`)
}

function parseList(texts: string[], parse: (text: string) => string): string[] | null {
  return texts.length === 1 && texts[0] === NONE ? null : texts.map(parse)
}

const parseAddress = (text: string) => parseEvmAddress(text) ?? parseSolanaAddress(text)

function parseRecipient(text: string): string {
  const address = parseAddress(text)
  if (address) return address
  throw new UsageError(`--recipient ${text} is not an address, or its checksum is wrong.`)
}

function parseToken(text: string): string {
  const [, chainId, address = ''] = /^([1-9]\d{0,15}):(\w+)$/.exec(text) ?? []
  const token = parseAddress(address)
  if (chainId && token) return tokenName(Number(chainId), token)
  throw new UsageError(`--token ${text}: write CHAIN_ID:ADDRESS.`)
}

export function parseOrigins(texts: string[]): string[] {
  const wrong = texts.find((text) => !isWebOrigin(text))
  if (wrong === undefined) return texts
  throw new UsageError(
    `--origin ${wrong}: write scheme, host and port as a browser does: https://app.example.`,
  )
}

export function parseLimits({ limit = [], rate }: SettingFlags): Limits {
  const limits: Limits = {}
  if (rate !== undefined) {
    const perSecond = parseRate(rate)
    if (perSecond === undefined) throw new UsageError(`--rate ${rate}: write calls per second.`)
    for (const rateClass of RATE_CLASSES) limits[rateClass] = perSecond
  }
  for (const text of limit) {
    const [name, value, ...more] = text.split('=')
    const rateClass = RATE_CLASSES.find((known) => known === name)
    const perSecond = parseRate(value)
    if (!rateClass || more.length > 0 || perSecond === undefined) {
      throw new UsageError(`--limit ${text}: write CLASS=PER_SECOND, with one of ${RATE_CLASSES.join(', ')}.`)
    }
    limits[rateClass] = perSecond
  }
  return limits
}

function parseRate(text: string | undefined): number | undefined {
  const perSecond = Number(text)
  return perSecond > 0 && perSecond <= 1e6 ? perSecond : undefined
}
