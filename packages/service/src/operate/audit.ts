import { type Env, type Output, parseFlags, UsageError, withDatabase } from '../command.ts'
import { type AuditRow, streamAudit } from '../store/exports.ts'
import { PERIOD_OPTIONS, parseFormat, parsePeriod, toCsvLine, writePages } from './export.ts'

export const AUDIT_HELP = `audit export --from DAY --to DAY --format csv|jsonl
      Prints every swap that was submitted from one day (UTC) to before the other, with addresses, amounts in the
      smallest unit, USD and transactions, and then every denial and decision about an address.`

const FORMATS = ['csv', 'jsonl'] as const

const COLUMNS = [
  ...['record', 'time', 'swapId', 'accountId', 'status', 'state', 'method', 'wallet', 'recipient'],
  ...['depositAddress', 'depositSenders', 'originChain', 'inputToken', 'inputAmount', 'destinationChain'],
  ...['outputToken', 'quotedOutput', 'delivered', 'integratorFee', 'usd', 'depositTxHash', 'originTxHash'],
  ...['deliveryTxHash', 'refundTxHash', 'claimTxHash', 'failureCode', 'refundReason', 'point', 'role'],
  ...['verdict', 'address', 'chainId', 'reason', 'list', 'version', 'author'],
]

export async function audit(args: string[], env: Env, output: Output): Promise<number> {
  const [command, ...rest] = args
  if (command !== 'export') throw new UsageError('Unknown command: use audit export. Try --help.')
  const { values } = parseFlags({ args: rest, options: PERIOD_OPTIONS })
  const format = parseFormat(FORMATS, values.format)
  const period = parsePeriod(values)
  if (format === 'csv') output.out(toCsvLine(COLUMNS))
  const toLine = format === 'csv' ? toCsv : toJson
  await withDatabase(
    env,
    'audit',
    (pool) => writePages(output, streamAudit(pool, period), (page) => page.map(toLine)),
    { answerMs: 0 },
  )
  return 0
}

const toCsv = (row: AuditRow) => toCsvLine(COLUMNS.map((column) => row[column]))

/** Without what the row does not have. */
const toJson = (row: AuditRow) => JSON.stringify(row, (_, value: unknown) => value ?? undefined)
