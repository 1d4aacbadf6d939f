import { reservingStates, type SwapState } from '../swap/lifecycle.ts'
import type { OpContent } from '../swap/op-terms.ts'
import type { Db } from './db.ts'
import { PAY_AMOUNT } from './op-columns.ts'
import { listOf, toJson } from './sql.ts'

/** Whether a process is using the database. It might sign or accept something that the rebuild rules out. */
export async function isDatabaseInUse(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ held: boolean }>(
    `select exists (select 1 from lanes where expires_at > clock_timestamp()) as held`,
  )
  return rows[0]?.held === true
}

/** Inserts the swap of a stored op whose submission was lost. */
export async function insertLostSubmission(
  db: Db,
  forgotten: { swapId: string; hash: string },
): Promise<void> {
  await db.query(
    `insert into swaps (id, op_id, quote_id, account_id, state, origin_chain, destination_chain, wallet, input_token,
                        input_amount, locker, signature, log_lost, timeline)
     select $1, o.id, o.quote_id, o.account_id, 'locking', o.origin_chain, o.destination_chain, o.wallet,
            o.input_token, o.input_amount, o.locker, '', true,
            jsonb_build_array(jsonb_build_object('stage', 'locking', 'at', utc_now()))
       from ops o where o.hash = $2`,
    [forgotten.swapId, forgotten.hash],
  )
}

export type RecoveredSwap = {
  swapId: string
  opId: string
  state: SwapState
  stage: string
  originTxHash: string
  lockedBlock: bigint
  deliveryTxHash?: string
  delivered?: bigint
  refundTxHash?: string
  credited?: boolean
  refundReason?: string
}

/** Inserts a swap found on the chains: its input is finally taken, and its op is stored. */
export async function insertRecoveredSwap(db: Db, swap: RecoveredSwap): Promise<void> {
  await db.query(
    `insert into swaps (id, op_id, quote_id, account_id, state, origin_chain, destination_chain, wallet, input_token,
                        input_amount, locker, signature, origin_final, delivery_final, origin_tx_hash, locked_block,
                        delivery_tx_hash, delivered, refund_tx_hash, credited, refund_reason, log_lost, timeline)
     select $1, o.id, o.quote_id, o.account_id, $3::text, o.origin_chain, o.destination_chain, o.wallet, o.input_token,
            o.input_amount, o.locker, '', true, $6::text is not null, $4, $5, $6, $7, $8, coalesce($9, false), $10,
            $3::text = 'delivering',
            jsonb_build_array(jsonb_build_object('stage', $11::text, 'at', utc_now()))
       from ops o where o.id = $2`,
    [
      swap.swapId,
      swap.opId,
      swap.state,
      swap.originTxHash,
      swap.lockedBlock.toString(),
      swap.deliveryTxHash,
      swap.delivered?.toString(),
      swap.refundTxHash,
      swap.credited,
      swap.refundReason,
      swap.stage,
    ],
  )
}

export async function markOrphan(db: Db, opId: string): Promise<void> {
  await db.query('update ops set is_orphan = true where id = $1', [opId])
}

type Position = { chainId: number; locker: string; position: bigint; round: bigint; opId: string }

/** Reserves the position of an op found on the chain, so that no other op gets it. */
export async function holdPosition(
  db: Db,
  { chainId, locker, position, round, opId }: Position,
): Promise<void> {
  await db.query(
    `insert into ring_positions as p (chain_id, locker, position, last_round, op_id) values ($1, $2, $3, $4, $5)
     on conflict (chain_id, locker, position)
     do update set op_id = excluded.op_id, last_round = greatest(p.last_round, excluded.last_round)`,
    [chainId, locker, position.toString(), round.toString(), opId],
  )
}

/** Marks every swap for which a transaction may have been signed that is not recorded. Returns the count. */
export async function markLogsLost(db: Db): Promise<number> {
  const { rowCount } = await db.query(
    `update swaps set log_lost = true where state in ${listOf(reservingStates)}`,
  )
  return rowCount ?? 0
}

/** Expires all builds: they may have been submitted, and be on their way. */
export async function expireOps(db: Db): Promise<void> {
  await db.query('update ops set expires_at = clock_timestamp() where expires_at > clock_timestamp()')
}

/** Recomputes reservations from undelivered swaps and pending withdrawals. */
export async function recountReservations(db: Db): Promise<void> {
  await db.query(
    `update inventory i set reserved = coalesce((
       select sum(${PAY_AMOUNT}) from swaps s join ops o on o.id = s.op_id
        where o.destination_chain = i.chain_id and o.pay_token = i.token
          and s.state in ${listOf(reservingStates)}), 0) + coalesce((
       select sum(m.amount) from treasury_moves m
        where m.chain_id = i.chain_id and m.token = i.token and m.kind = 'withdraw' and m.outcome is null), 0)`,
  )
}

/** Sets the next epoch, above every one ever used, so that no index is issued twice. */
export async function raiseEpoch(db: Db, seen: number): Promise<number> {
  const { rows } = await db.query<{ epoch: number }>(
    'update service_epoch set epoch = greatest(epoch, $1) + 1 returning epoch',
    [seen],
  )
  return rows[0]?.epoch ?? 0
}

export async function setRebuildPoint(db: Db, point: { chainId: number; block: bigint }): Promise<void> {
  await db.query(
    `insert into rebuild_points (chain_id, block) values ($1, $2)
     on conflict (chain_id) do update set block = excluded.block`,
    [point.chainId, point.block.toString()],
  )
}

type Rebuild = { epoch: number; recovered: number; moved: number; uncertain: number }

export async function recordRebuild(db: Db, { epoch, recovered, moved, uncertain }: Rebuild): Promise<void> {
  await db.query('insert into rebuilds (epoch, recovered, moved, uncertain) values ($1, $2, $3, $4)', [
    epoch,
    recovered,
    moved,
    uncertain,
  ])
}

/** The next nonce of a sender; 0 if the sender is unknown. */
export async function readNextNonce(db: Db, key: { chainId: number; address: string }): Promise<number> {
  const { rows } = await db.query<{ next_nonce: string }>(
    'select next_nonce from sender_keys where chain_id = $1 and address = $2',
    [key.chainId, key.address],
  )
  return Number(rows[0]?.next_nonce ?? 0)
}

type Named = { txHash: string; block: bigint }

/** Transactions of a chain that are neither recorded nor known to a rebuild. */
export async function findUnlogged(db: Db, chainId: number, named: readonly Named[]): Promise<string[]> {
  const { rows } = await db.query<{ tx_hash: string }>(
    `select n.tx_hash from unnest($2::text[], $3::bigint[]) as n (tx_hash, block)
      where not exists (select 1 from tx_attempts a where a.tx_hash = n.tx_hash)
        and n.block > coalesce((select p.block from rebuild_points p where p.chain_id = $1), -1)`,
    [chainId, named.map(({ txHash }) => txHash), named.map(({ block }) => block.toString())],
  )
  return rows.map(({ tx_hash }) => tx_hash)
}

type Adopted = OpContent & { id: string; terms: object; destinationBlock: bigint }

/** Stores the recovered terms of an orphan: from now on it is a normal op. */
export async function adoptOrphan(db: Db, op: Adopted): Promise<void> {
  await db.query('select adopt_orphan($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)', [
    op.id,
    op.destinationChain,
    op.outputToken,
    op.recipient,
    op.minOutput.toString(),
    op.position.toString(),
    op.round.toString(),
    op.opDeadline,
    op.fillDeadline,
    op.refundDeadline,
    op.destinationBlock.toString(),
    toJson(op.terms),
  ])
}
