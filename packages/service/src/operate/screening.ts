import { familyOfAddress } from '../chains/families.ts'
import { type Env, type Output, parseSubcommand, toTable, UsageError, withDatabase } from '../command.ts'
import { MAX_TEXT } from '../screen/denials.ts'
import { findOverrides, insertOverride, type OverrideVerdict } from '../store/screening.ts'

export const SCREENING_HELP = `screening allow ADDRESS --reason TEXT --author NAME
      Serves this address whatever the sources of the configuration say.
  service screening deny ADDRESS --reason TEXT --author NAME
      Does not serve it. A swap whose input is locked is refunded unless its delivery is sent.
  service screening clear ADDRESS --reason TEXT --author NAME
      Leaves it to the sources again.
  service screening list [--json]
      Shows the decisions that hold. Every one, and every denial, stays on record: see audit export.`

const text = { type: 'string' } as const
export const RECORD_OPTIONS = { reason: text, author: text, json: { type: 'boolean' } } as const
export type RecordFlags = { reason?: string; author?: string; json?: boolean }
type Run = { env: Env; output: Output; flags: RecordFlags; rest: readonly string[] }

const commands = {
  allow: (run: Run) => decide(run, 'allow'),
  deny: (run: Run) => decide(run, 'deny'),
  clear: (run: Run) => decide(run, 'lists'),
  list: showOverrides,
}

export async function screening(args: string[], env: Env, output: Output): Promise<number> {
  const { command, flags, rest } = parseSubcommand<Run>({ args, options: RECORD_OPTIONS, commands })
  await command({ env, output, flags, rest })
  return 0
}

const DONE: Record<OverrideVerdict, string> = {
  allow: 'is served',
  deny: 'is not served',
  lists: 'is left to the sources again',
}

async function decide({ env, output, flags, rest }: Run, verdict: OverrideVerdict): Promise<void> {
  const [given, ...more] = rest
  if (given === undefined || more.length > 0) throw new UsageError('Name one address. Try --help.')
  const family = familyOfAddress(given)
  const address = family?.addresses.parse(given) ?? (family && given)
  if (!family || !address) throw new UsageError(`${given} is not an address of a known family of chains.`)
  const reason = getRecordText(flags.reason, '--reason')
  const author = getRecordText(flags.author, '--author')
  const key = family.addresses.keyOf(address)
  await withDatabase(env, 'screening', (pool) =>
    insertOverride(pool, { verdict, address: key, reason, author }),
  )
  output.hint(`${address} ${DONE[verdict]}.`)
}

export function getRecordText(given: string | undefined, name: string): string {
  const text = given?.trim()
  if (!text) throw new UsageError(`${name} is required: it stays on record.`)
  if (text.length > MAX_TEXT) throw new UsageError(`${name} has more than ${MAX_TEXT} characters.`)
  return text
}

async function showOverrides({ env, output, flags, rest }: Run): Promise<void> {
  if (rest.length > 0) throw new UsageError('screening list takes no address. Try --help.')
  const overrides = await withDatabase(env, 'screening', findOverrides)
  const rows = overrides.map(({ verdict, address, reason, author, at }) => [
    ...[verdict, address, at.toISOString(), author],
    reason,
  ])
  const table = () => toTable([['VERDICT', 'ADDRESS', 'SINCE', 'AUTHOR', 'REASON'], ...rows])
  output.out(flags.json ? JSON.stringify(overrides, null, 2) : table())
}
