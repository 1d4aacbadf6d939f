import { type Env, type Output, parseFlags, toTable, withDatabase } from '../command.ts'
import { findQuarantined } from '../store/quarantine.ts'

export const QUARANTINE_HELP = `quarantine [--json] [--errors]
      Lists swaps, events and accounts that failed three times and were set aside. Each is tried once a minute and
      leaves the list when it succeeds. --errors adds the whole error of each.`

const OPTIONS = { json: { type: 'boolean' }, errors: { type: 'boolean' } } as const

export async function showQuarantine(args: string[], env: Env, output: Output): Promise<number> {
  const { json, errors } = parseFlags({ args, options: OPTIONS }).values
  const items = await withDatabase(env, 'quarantine', findQuarantined)
  if (json) {
    output.out(JSON.stringify(items, null, 2))
    return 0
  }
  if (items.length === 0) output.hint('Nothing is set aside.')
  const rows = items.map(({ step, id, since, lastAt, failures, error }) => [
    step,
    id,
    since.toISOString(),
    lastAt.toISOString(),
    String(failures),
    error.split('\n')[0] ?? '',
  ])
  if (items.length > 0) output.out(toTable([['STEP', 'ID', 'SINCE', 'LAST', 'FAILED', 'ERROR'], ...rows]))
  if (errors) for (const { step, id, error } of items) output.out(`\n${step} ${id}\n${error}`)
  return 0
}
