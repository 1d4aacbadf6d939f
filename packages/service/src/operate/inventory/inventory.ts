import { randomBytes } from 'node:crypto'
import { geoVaultAbi } from '@geoswap/protocol'
import type { Pool } from 'pg'
import { type Address, encodeFunctionData } from 'viem'
import type { TxRequest } from '../../chains/chain.ts'
import { asEvm } from '../../chains/evm/connect.ts'
import type { ConnectedChain } from '../../chains/families.ts'
import { type Env, type Output, parseFlags, toTable, UsageError, withDatabase } from '../../command.ts'
import { openScreening } from '../../compose/screening.ts'
import { optionalSecret } from '../../config/secrets.ts'
import { findAccount } from '../../store/api-keys.ts'
import type { Move } from '../../store/inventory.ts'
import { inCoins, vaultOf } from './holdings.ts'
import {
  type MoveContext,
  type MoveOrder,
  parseCoins,
  parseMove,
  recipientOf,
  refuseMissing,
  refuseReserved,
  refuseWithoutGas,
} from './move-order.ts'
import { showPlan } from './plan.ts'
import { followMove } from './send-move.ts'
import { findChain, findSettings, findTokenOf, type InventorySession, openSession } from './session.ts'
import { showStatus } from './status.ts'
import { findTreasury } from './treasury.ts'

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

const WITHDRAW_GAS = 300_000

/** Prints the transaction, or sends it and waits until it is final. */
export async function runMove(env: Env, output: Output, order: MoveOrder): Promise<number> {
  const { target, network } = findSettings(env)
  const named = network.chains.find(
    ({ name, chainId }) => name === order.chain || String(chainId) === order.chain,
  )
  const chain = named ?? findChain(await openSession(env), order.chain).config
  const asked = { network, chain, kind: order.kind, isLocal: target.isLocal }
  const treasury = await findTreasury(env, asked, { needsKey: order.isSent })
  const session = await openSession(env, treasury.signers)
  return withDatabase(env, 'inventory', async (pool) => {
    const accountId = order.account === undefined ? undefined : await getAccountId(pool, order.account)
    const { connected, token, move: planned } = await toMove(session, order, treasury.sender)
    const move = { ...planned, accountId }
    const moving = { connected, token, move, pool, output }
    if (accountId !== undefined) await refuseDenied(env, session, { pool, move, accountId })
    return order.isSent ? followMove(moving, () => planMove(moving)) : describeMove(moving, order)
  })
}

async function getAccountId(pool: Pool, idOrName: string): Promise<string> {
  const account = await findAccount(pool, idOrName)
  if (!account) throw new UsageError(`There is no account ${idOrName}.`)
  return account.id
}

async function toMove(session: InventorySession, order: MoveOrder, sender: string) {
  const connected = findChain(session, order.chain)
  const { chainId } = connected.config
  const token = findTokenOf(session, connected, order.token)
  const recipient = recipientOf(order, connected)
  const payer = order.kind === 'withdraw' ? vaultOf(connected) : sender
  if (recipient === payer) throw new UsageError(`${payer} would pay to itself.`)
  const once = order.once ?? (await newOnce(connected, sender))
  const amount = parseCoins(order.amount, token)
  const move: Move = { chainId, sender, once, kind: order.kind, token: token.address, recipient, amount }
  return { connected, token, move }
}

type Payout = { pool: Pool; move: Move; accountId: string }

/** Screens whoever fees of an account are paid to. */
async function refuseDenied(env: Env, session: InventorySession, { pool, move, accountId }: Payout) {
  const { network, chains } = session
  const screeningToken = optionalSecret(env, 'GEOSWAP_SCREENING_TOKEN', [])
  const onFault = (error: unknown) => {
    throw error
  }
  const screening = openScreening({ network, screeningToken }, { pool, chains, caller: 'fees', onFault })
  await screening?.start()
  try {
    const owner = { address: move.recipient, chainId: move.chainId, role: 'feeOwner' } as const
    const verdict = await screening?.ofSwap([owner], { point: 'payout', accountId })
    if (verdict === 'deny')
      throw new UsageError(`${move.recipient} is denied: audit export says by which list.`)
    if (verdict === 'unknown')
      throw new UsageError(
        `Nobody knows whether ${move.recipient} may be paid: a source does not answer. Try again.`,
      )
  } finally {
    screening?.stop()
  }
}

/** The next nonce. Without nonces, a random number, whose account can be created only once. */
async function newOnce(connected: ConnectedChain, sender: string): Promise<string> {
  const evm = asEvm(connected)
  if (!evm) return randomBytes(8).toString('hex')
  const address = sender as Address
  const [next, pending] = await Promise.all([
    evm.client.getTransactionCount({ address }),
    evm.client.getTransactionCount({ address, blockTag: 'pending' }),
  ])
  if (pending > next) {
    throw new UsageError(
      `A transaction of ${sender} on ${connected.config.name} is pending (nonce ${next}). Wait for it.`,
    )
  }
  return String(next)
}

/** Plans the transaction, and throws if it would fail now. */
async function planMove(context: MoveContext): Promise<TxRequest> {
  if (context.move.kind === 'deposit') await refuseMissing(context)
  const request = await toRequest(context)
  await refuseWithoutGas(context, request)
  return request
}

async function toRequest({ connected, token, move }: MoveContext): Promise<TxRequest> {
  const { kind, sender, recipient, amount, once } = move
  const { chain, contracts } = connected
  if (kind === 'withdraw' && contracts) return planWithdrawal(connected, move)
  const transfer = { from: sender, to: recipient, token: token.address, amount }
  return chain.planTransfer(chain.hasNonces ? transfer : { ...transfer, once })
}

async function planWithdrawal(connected: ConnectedChain, move: Move): Promise<TxRequest> {
  const evm = asEvm(connected)
  const args = [move.token as Address, move.recipient as Address, move.amount] as const
  const to = evm?.contracts.vault
  const data = encodeFunctionData({ abi: geoVaultAbi, functionName: 'withdraw', args })
  await evm?.client.call({ account: move.sender as Address, to, data })
  return { to, data, gas: WITHDRAW_GAS }
}

async function describeMove(context: MoveContext, order: MoveOrder): Promise<number> {
  const { connected, token, move, output } = context
  if (move.kind === 'withdraw') await refuseReserved(context)
  const request = await planMove(context)
  const what = `${inCoins(move.amount, token)} ${token.symbol}`
  const rows = [
    ...(move.accountId ? [['fees of', move.accountId]] : []),
    [move.kind, `${what} (${move.amount}, token ${token.address})`],
    ['chain', `${connected.config.name} (${move.chainId})`],
    [move.kind === 'withdraw' ? 'from the vault' : 'into the vault', vaultOf(connected)],
    ['to', move.recipient],
    ['sent by', move.sender],
    ...Object.entries(request).map(([name, value]) => [`transaction ${name}`, String(value)]),
    ['once', move.once],
  ]
  output.out(toTable(rows))
  const to = order.to === undefined ? '' : ` --to ${order.to}`
  const again = `--chain ${order.chain} --token ${order.token} --amount ${order.amount}${to} --once ${move.once}`
  output.hint(`Nothing was sent. To send it:
  ${order.account === undefined ? `inventory ${order.kind}` : `fees payout --account ${order.account}`} ${again} --yes
Running it several times pays only once.`)
  return 0
}
