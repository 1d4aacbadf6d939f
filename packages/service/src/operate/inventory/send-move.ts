import { setTimeout as delay } from 'node:timers/promises'
import type { Address } from 'viem'
import type { Heads, Signed, TxRequest } from '../../chains/chain.ts'
import { asEvm } from '../../chains/evm/connect.ts'
import { UsageError } from '../../command.ts'
import { beginPayout } from '../../store/integrator-fees.ts'
import {
  beginDeposit,
  beginWithdrawal,
  endMove,
  findMove,
  type Move,
  type MoveOutcome,
  type RecordedMove,
  recordMoveTx,
  setHoldings,
} from '../../store/inventory.ts'
import { inCoins } from './holdings.ts'
import { type MoveContext, readWithdrawable, refuseReserved } from './move-order.ts'

const MAX_WAIT_MS = 2_000

/**
 * Sends a move, or continues an interrupted one. All transactions signed for it share one nonce, or one account on
 * Solana, so that at most one lands.
 */
export async function followMove(context: MoveContext, plan: () => Promise<TxRequest>): Promise<number> {
  const { pool, move, output } = context
  const known = await findMove(pool, move)
  if (known) assertSame(known, move)
  if (known?.outcome) return reportOutcome(context, known.outcome, known.txHashes)
  const isUsed = await isNonceUsed(context, (await context.connected.chain.readHeads()).head.number)
  if (isUsed && !known) {
    throw new UsageError(
      `Nonce ${move.once} of ${move.sender} is used by another transaction: nothing was sent. Run it without --yes.`,
    )
  }
  let signed: Signed | undefined
  if (!isUsed && !(await findLanded(context, known?.txHashes ?? []))) {
    if (!known && move.kind === 'withdraw') await refuseReserved(context)
    const request = await plan()
    if (!known) await begin(context)
    signed = await sign(context, request)
    await recordMoveTx(pool, move, signed.txHash)
    output.hint(`Sending ${signed.txHash}. If interrupted, run the command again: it pays only once.`)
    await broadcast(context, signed)
  }
  const outcome = await waitForEnd(context, signed)
  if (!outcome) {
    output.hint('It expired before it was included: nothing was paid. Run it again.')
    return 1
  }
  await endMove(pool, move, outcome)
  await recount(context)
  return reportOutcome(context, outcome, (await findMove(pool, move))?.txHashes ?? [])
}

function assertSame(known: RecordedMove, move: Move): void {
  const isSame = (['kind', 'token', 'recipient', 'amount', 'accountId'] as const).every(
    (name) => known[name] === move[name],
  )
  if (isSame) return
  const other = `${known.kind} ${known.amount} of ${known.token} to ${known.recipient}`
  throw new UsageError(`--once ${move.once} belongs to another move (${other}): nothing was sent.`)
}

async function begin(context: MoveContext): Promise<void> {
  const { move, pool } = context
  if (move.kind === 'deposit') return beginDeposit(pool, move)
  await recount(context)
  const balance = await readWithdrawable(context)
  const isBegun = move.accountId
    ? await beginPayout(pool, move, balance)
    : await beginWithdrawal(pool, move, balance)
  if (isBegun) return
  // A swap was accepted after the check.
  await refuseReserved(context)
  throw new UsageError('The free amount just changed: nothing was sent. Run it again.')
}

/** Updates the stored balances for quotes, in case no worker runs. */
async function recount({ connected, pool }: Pick<MoveContext, 'connected' | 'pool'>): Promise<void> {
  const { head } = await connected.chain.readHeads()
  const at = { chainId: connected.config.chainId, block: head.number }
  await setHoldings(pool, at, await connected.chain.readHoldings(head))
}

async function sign({ connected, move }: MoveContext, request: TxRequest): Promise<Signed> {
  const { chain } = connected
  const terms = await chain.readTerms(await chain.readHeads())
  const nonce = chain.hasNonces ? { nonce: Number(move.once) } : {}
  return chain.sign(request, { sender: move.sender, terms, ...nonce })
}

/** Ignores the node's answer: the chain shows whether the bytes arrived. */
async function broadcast({ connected, output }: MoveContext, { raw }: Signed): Promise<void> {
  await connected.chain.broadcast(raw).catch((error: unknown) => {
    output.hint(
      `Not yet accepted by a node: ${error instanceof Error ? error.message.split('\n')[0] : error}`,
    )
  })
}

async function isNonceUsed({ connected, move }: MoveContext, blockNumber: bigint): Promise<boolean> {
  const evm = asEvm(connected)
  if (!evm) return false
  const address = move.sender as Address
  const next = await evm.client.getTransactionCount({ address, blockNumber })
  if (next < Number(move.once)) {
    throw new UsageError(
      `Nonce ${move.once} of ${move.sender} is not the next one, which is ${next}. Nothing was sent.`,
    )
  }
  return next > Number(move.once)
}

async function findLanded({ connected }: MoveContext, txHashes: readonly string[]) {
  const found = await Promise.all(txHashes.map((txHash) => connected.chain.findTransaction(txHash)))
  return found.find((each) => each !== undefined && !each.failed)
}

/** Undefined if the signed transaction can no longer land and no earlier one did. */
async function waitForEnd(
  context: MoveContext,
  signed: Signed | undefined,
): Promise<MoveOutcome | undefined> {
  const { connected, pool, move } = context
  const { txHashes = [] } = (await findMove(pool, move)) ?? {}
  let heads: Heads | undefined
  for (;;) {
    // Reads the heads first, so that a transaction missing below them cannot have landed before.
    heads = await connected.chain.readHeads(heads)
    const end = await findEnd(context, { heads, txHashes, signed })
    if (end) return end === 'expired' ? undefined : end
    await delay(Math.min(connected.config.blockMs, MAX_WAIT_MS))
    if (signed) await connected.chain.broadcast(signed.raw).catch(() => {})
  }
}

type Progress = { heads: Heads; txHashes: readonly string[]; signed: Signed | undefined }

async function findEnd(context: MoveContext, { heads, txHashes, signed }: Progress) {
  const isOver = asEvm(context.connected) && (await isNonceUsed(context, heads.hard.number))
  const landed = await findLanded(context, txHashes)
  if (landed) return landed.block <= heads.hard.number ? ('landed' as const) : undefined
  if (isOver) return 'failed' as const
  const isExpired = signed?.lastValid !== undefined && heads.hard.height > signed.lastValid
  return isExpired ? ('expired' as const) : undefined
}

function reportOutcome(
  { move, token, output }: MoveContext,
  outcome: MoveOutcome,
  txHashes: readonly string[],
): number {
  const what = `${move.kind} of ${inCoins(move.amount, token)} ${token.symbol} (--once ${move.once})`
  if (outcome === 'landed') output.out(`The ${what} is final: ${txHashes.join(' or ')}`)
  else output.out(`The ${what} failed: its nonce was used without it. Signed: ${txHashes.join(', ')}`)
  return outcome === 'landed' ? 0 : 1
}
