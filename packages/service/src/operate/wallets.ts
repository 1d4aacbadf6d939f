import { parseEvmAddress } from '../chains/evm/address.ts'
import { type Env, type Output, parseSubcommand, toTable, UsageError, withDatabase } from '../command.ts'
import { findFrozen, insertFreeze } from '../store/api-keys.ts'
import { getRecordText, RECORD_OPTIONS, type RecordFlags } from './screening.ts'

export const WALLETS_HELP = `wallets freeze ADDRESS --reason TEXT --author NAME
      Refuses requests that this wallet signs instead of an API key (\`keyless\`). Its swaps end as usual.
  service wallets unfreeze ADDRESS --reason TEXT --author NAME
      Takes them again. Every process follows within 5 seconds.
  service wallets list [--json]
      Shows the frozen wallets. Every decision stays on record: see audit export.`

type Run = { env: Env; output: Output; flags: RecordFlags; rest: readonly string[] }

const commands = {
  freeze: (run: Run) => decide(run, true),
  unfreeze: (run: Run) => decide(run, false),
  list,
}

export async function wallets(args: string[], env: Env, output: Output): Promise<number> {
  const { command, flags, rest } = parseSubcommand<Run>({ args, options: RECORD_OPTIONS, commands })
  await command({ env, output, flags, rest })
  return 0
}

async function decide({ env, output, flags, rest }: Run, isFrozen: boolean): Promise<void> {
  const [given = '', ...more] = rest
  const wallet = parseEvmAddress(given)
  if (!wallet || more.length > 0) throw new UsageError('Name one EVM address. Try --help.')
  const reason = getRecordText(flags.reason, '--reason')
  const author = getRecordText(flags.author, '--author')
  await withDatabase(env, 'wallets', (pool) => insertFreeze(pool, { wallet, isFrozen, reason, author }))
  output.hint(`${wallet} is ${isFrozen ? 'frozen' : 'not frozen'}: every process follows within 5 seconds.`)
}

async function list({ env, output, flags, rest }: Run): Promise<void> {
  if (rest.length > 0) throw new UsageError('wallets list takes no address. Try --help.')
  const frozen = await withDatabase(env, 'wallets', findFrozen)
  const rows = frozen.map(({ wallet, at, author, reason }) => [wallet, at.toISOString(), author, reason])
  const table = () => toTable([['WALLET', 'SINCE', 'AUTHOR', 'REASON'], ...rows])
  output.out(flags.json ? JSON.stringify(frozen, null, 2) : table())
}
