import type { Pool } from 'pg'
import type { TxRequest } from '../../chains/chain.ts'
import { costOf, type Fees } from '../../chains/evm/fees.ts'
import type { EvmRequest } from '../../chains/evm/plans.ts'
import { type Output, UsageError } from '../../command.ts'
import type { ConnectedChain } from '../../compose/chains.ts'
import type { Token } from '../../model/catalog.ts'
import { type Move, readFree } from '../../store/treasury-moves.ts'
import { inCoins, readHeld } from './holdings.ts'

/** A move with everything that sends it. */
export type MoveDesk = { connected: ConnectedChain; token: Token; move: Move; pool: Pool; output: Output }

/** What leaves beside the amount: on Solana the vault pays the fee and the mark itself. */
export async function readWithdrawable({ connected, token }: Pick<MoveDesk, 'connected' | 'token'>) {
  const held = await readHeld(connected, token.address)
  const isOwnCoin = connected.config.family === 'solana' && token.address === connected.nativeToken.address
  if (!isOwnCoin) return held
  const { delivery } = await connected.chain.readLegCosts(await connected.chain.readHeads())
  return held > delivery ? held - delivery : 0n
}

export async function refuseReserved({
  connected,
  token,
  move,
  pool,
}: Omit<MoveDesk, 'output'>): Promise<void> {
  const free = await readFree(pool, move, await readWithdrawable({ connected, token }))
  if (move.amount <= free) return
  throw new UsageError(notFree(token, free))
}

function notFree(token: Token, free: bigint): string {
  return `Only ${inCoins(free, token)} ${token.symbol} is free: the rest is reserved for accepted swaps, or not there.`
}

/** Where a deposit comes from has to hold it. */
export async function refuseMissing({
  connected,
  token,
  move,
}: Omit<MoveDesk, 'pool' | 'output'>): Promise<void> {
  const held = await connected.readTokenBalance(move.sender, token.address)
  if (held >= move.amount) return
  const [has, lacks] = [held, move.amount - held].map((amount) => `${inCoins(amount, token)} ${token.symbol}`)
  throw new UsageError(`${move.sender} holds ${has} on ${connected.config.name}: ${lacks} are missing.`)
}

/** On EVM chains, whose nodes would take the transaction only later; the simulation on Solana covers the fee. */
export async function refuseWithoutGas(
  { connected, move }: Pick<MoveDesk, 'connected' | 'move'>,
  request: TxRequest,
): Promise<void> {
  const { chain, evm, nativeToken, config } = connected
  if (!evm) return
  const heads = await chain.readHeads()
  const [has, terms] = await Promise.all([chain.readCoins(move.sender, heads.head), chain.readTerms(heads)])
  const needs = costOf(request as EvmRequest, terms as Fees)
  if (has >= needs) return
  const inGas = (amount: bigint) => inCoins(amount, nativeToken)
  throw new UsageError(
    `${move.sender} has ${inGas(has)} of the coin of ${config.name}; with its gas this may take ${inGas(needs)}.`,
  )
}
