import { type Env, type Output, parseFlags, toTable, UsageError, withDatabase } from '../command.ts'
import { readOwedFees } from '../store/integrator-fees.ts'
import { findAmounts } from './amounts.ts'
import { runMove } from './inventory/inventory.ts'
import type { MoveOrder } from './inventory/move-order.ts'

export const FEES_HELP = `fees status [--json]
      Shows the fees that accounts added for themselves and that are not paid out, by account, chain and token.
  service fees payout --account ID_OR_NAME --chain C --token T --amount A --to ADDRESS [--once N --yes]
      Pays them from the vault, as inventory withdraw does: never more than is owed, and only once.`

export async function fees(args: string[], env: Env, output: Output): Promise<number> {
  const [command, ...rest] = args
  if (command === 'status') return showOwed(rest, env, output)
  if (command === 'payout') return runMove(env, output, parsePayout(rest))
  throw new UsageError('Unknown command: use fees status or fees payout. Try --help.')
}

async function showOwed(args: string[], env: Env, output: Output): Promise<number> {
  const { values } = parseFlags({ args, options: { json: { type: 'boolean' } } })
  const owed = await withDatabase(env, 'fees', readOwedFees)
  if (values.json) {
    output.out(
      JSON.stringify(
        owed.map((each) => ({ ...each, amount: `${each.amount}` })),
        null,
        2,
      ),
    )
    return 0
  }
  const { amount: show } = findAmounts(env)
  const rows = owed.map(({ account, accountId, chainId, token, amount }) => [
    account,
    accountId,
    show(chainId, token, amount),
  ])
  output.out(toTable([['ACCOUNT', 'ID', 'OWED'], ...rows]))
  return 0
}

function parsePayout(args: string[]): MoveOrder {
  const text = { type: 'string' } as const
  const names = { account: text, chain: text, token: text, amount: text, to: text, once: text }
  const { values } = parseFlags({ args, options: { ...names, yes: { type: 'boolean', default: false } } })
  const { account, chain, token, amount, to, once, yes: isSent } = values
  if (!account || !chain || !token || !amount || !to)
    throw new UsageError(
      'Options missing: fees payout --account A --chain C --token T --amount A --to ADDRESS',
    )
  if (isSent && once === undefined)
    throw new UsageError('Preview it first: without --yes, it prints the --once to send it with.')
  return { kind: 'withdraw', account, chain, token, amount, to, once, isSent }
}
