import type { Pool } from 'pg'
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
