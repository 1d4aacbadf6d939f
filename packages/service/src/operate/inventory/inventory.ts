import { type Env, type Output, parseFlags, UsageError } from '../../command.ts'
import { runMove } from './move.ts'
import { parseMove } from './move-order.ts'
import { showPlan } from './plan.ts'
import { showStatus } from './status.ts'

export const INVENTORY_HELP = `inventory status [--json]
      Shows the vaults by chain: held, reserved, free, in escrow, caps, USD values, and the most that a quote
      offers.
  service inventory deposit --chain C --token T --amount A [--once N --yes]
  service inventory withdraw --chain C --token T --amount A --to ADDRESS [--once N --yes]
      Amounts in whole coins. Without --yes it prints a preview. Sending needs GEOSWAP_TREASURY_KEY, or the treasury of
      GEOSWAP_KEYSTORE (on Solana that of the vault). Never takes reserved amounts, and pays only once.
  service inventory plan [--days 7] [--json]
      Shows the flows of the last days, and the transports needed to serve the same demand again.`

export async function inventory(args: string[], env: Env, output: Output): Promise<number> {
  const [command, ...rest] = args
  if (command === 'status') return showStatus(env, output, parseJsonFlag(rest))
  if (command === 'deposit' || command === 'withdraw') return runMove(env, output, parseMove(command, rest))
  if (command === 'plan') return showPlan(env, output, parsePlan(rest))
  throw new UsageError('Unknown command: use inventory status, deposit, withdraw or plan. Try --help.')
}

function parseJsonFlag(args: string[]): { json: boolean } {
  const { values } = parseFlags({ args, options: { json: { type: 'boolean', default: false } } })
  return { json: values.json }
}

function parsePlan(args: string[]): { days: number; json: boolean } {
  const options = {
    days: { type: 'string', default: '7' },
    json: { type: 'boolean', default: false },
  } as const
  const { values } = parseFlags({ args, options })
  const days = Number(values.days)
  if (!Number.isInteger(days) || days < 1 || days > 90) throw new UsageError('--days must be 1 to 90.')
  return { days, json: values.json }
}
