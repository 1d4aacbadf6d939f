import type { Pool } from 'pg'
import { parseUnits } from 'viem'
import type { TxRequest } from '../../chains/chain.ts'
import { asEvm } from '../../chains/evm/connect.ts'
import { costOf, type Fees } from '../../chains/evm/fees.ts'
import type { EvmRequest } from '../../chains/evm/plans.ts'
import type { ConnectedChain } from '../../chains/families.ts'
import { type Output, parseFlags, UsageError } from '../../command.ts'
import { readHeldFees, readOwedTo } from '../../store/integrator-fees.ts'
import { type Move, readFree } from '../../store/inventory.ts'
import { largest } from '../../swap/amount.ts'
import type { Token } from '../../swap/catalog.ts'
import { inCoins, readHeld, vaultOf } from './holdings.ts'

/** A parsed deposit or withdraw command. */
export type MoveOrder = {
  kind: Move['kind']
  chain: string
  token: string
  amount: string
  to: string | undefined
  once: string | undefined
  isSent: boolean
  /** The account, by id or name, whose fees a withdrawal pays out. */
  account?: string
}

export function parseMove(kind: Move['kind'], args: string[]): MoveOrder {
  const text = { type: 'string' } as const
  const { values } = parseFlags({
    args,
    options: {
      chain: text,
      token: text,
      amount: text,
      to: text,
      once: text,
      yes: { type: 'boolean', default: false },
    },
  })
  const { chain, token, amount, to, once, yes: isSent } = values
  const usage = `inventory ${kind} --chain C --token T --amount A${kind === 'withdraw' ? ' --to ADDRESS' : ''}`
  if (!chain || !token || !amount) throw new UsageError(`Options missing: ${usage}`)
  if ((kind === 'withdraw') !== (to !== undefined)) throw new UsageError(usage)
  if (isSent && once === undefined) {
    throw new UsageError(
      'Preview it first: without --yes, it prints the transaction, and the --once to send it with.',
    )
  }
  return { kind, chain, token, amount, to, once, isSent }
}

/** Parses an exact decimal number of whole coins. */
export function parseCoins(text: string, { decimals, symbol }: Pick<Token, 'decimals' | 'symbol'>): bigint {
  const [, fraction = ''] = text.split('.')
  if (!/^\d+(\.\d+)?$/.test(text)) throw new UsageError(`${text} is not an amount. Write it as 1500 or 0.25.`)
  if (fraction.length > decimals)
    throw new UsageError(`${symbol} has ${decimals} decimals, ${text} has more.`)
  const amount = parseUnits(text, decimals)
  if (amount === 0n) throw new UsageError('Nothing to move.')
  return amount
}

/** The recipient: the vault, or an address outside of the service. */
export function recipientOf({ kind, to = '' }: MoveOrder, connected: ConnectedChain): string {
  if (kind === 'deposit') return vaultOf(connected)
  const address = connected.family.addresses.parse(to)
  if (!address) throw new UsageError(`${to} is not an address on ${connected.config.name}.`)
  if ([...connected.ownAddresses, connected.nativeToken.address].includes(address)) {
    throw new UsageError(`${address} belongs to the service, or to nobody.`)
  }
  return address
}

/** A move and everything needed to send it. */
export type MoveContext = { connected: ConnectedChain; token: Token; move: Move; pool: Pool; output: Output }

/** The amount that the operator may withdraw; of the fees that accounts added, only their payouts. */
export async function readWithdrawable(context: Omit<MoveContext, 'output'>): Promise<bigint> {
  const { move, pool } = context
  const payable = await readPayable(context)
  return move.accountId === undefined ? largest(payable - (await readHeldFees(pool, move)), 0n) : payable
}

/** The balance minus the fee and the rent of an account, which a vault that is no contract pays itself. */
async function readPayable({ connected, token }: Pick<MoveContext, 'connected' | 'token'>) {
  const held = await readHeld(connected, token.address)
  const isOwnCoin = !connected.contracts && token.address === connected.nativeToken.address
  if (!isOwnCoin) return held
  const { delivery, deposits } = await connected.chain.readLegCosts(await connected.chain.readHeads())
  const cost = delivery + (deposits?.delivery ?? 0n)
  return held > cost ? held - cost : 0n
}

export async function refuseReserved({
  connected,
  token,
  move,
  pool,
}: Omit<MoveContext, 'output'>): Promise<void> {
  if (move.accountId !== undefined) refuseUnowed({ token, move }, await readOwedTo(pool, move))
  const free = await readFree(pool, move, await readWithdrawable({ connected, token, move, pool }))
  if (move.amount <= free) return
  throw new UsageError(notFree(token, free))
}

function refuseUnowed({ token, move }: Pick<MoveContext, 'token' | 'move'>, owed: bigint): void {
  if (move.amount <= owed) return
  throw new UsageError(
    `Only ${inCoins(largest(owed, 0n), token)} ${token.symbol} is owed to ${move.accountId}.`,
  )
}

function notFree(token: Token, free: bigint): string {
  return `Only ${inCoins(free, token)} ${token.symbol} is free: the rest is missing or reserved for accepted swaps.`
}

/** The sender of a deposit has to hold its amount. */
export async function refuseMissing({
  connected,
  token,
  move,
}: Omit<MoveContext, 'pool' | 'output'>): Promise<void> {
  const held = await connected.readTokenBalance(move.sender, token.address)
  if (held >= move.amount) return
  const [has, lacks] = [held, move.amount - held].map((amount) => `${inCoins(amount, token)} ${token.symbol}`)
  throw new UsageError(`${move.sender} holds ${has} on ${connected.config.name}: ${lacks} are missing.`)
}

/** For EVM chains, whose nodes would only accept the transaction later; on Solana the simulation covers the fee. */
export async function refuseWithoutGas(
  { connected, move }: Pick<MoveContext, 'connected' | 'move'>,
  request: TxRequest,
): Promise<void> {
  const { chain, nativeToken, config } = connected
  if (!asEvm(connected)) return
  const heads = await chain.readHeads()
  const [has, terms] = await Promise.all([chain.readCoins(move.sender, heads.head), chain.readTerms(heads)])
  const needs = costOf(request as EvmRequest, terms as Fees)
  if (has >= needs) return
  const inGas = (amount: bigint) => inCoins(amount, nativeToken)
  throw new UsageError(
    `${move.sender} has ${inGas(has)} of the coin of ${config.name}; amount and gas may take ${inGas(needs)}.`,
  )
}
