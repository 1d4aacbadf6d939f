import pg from 'pg'

export type SwapRow = {
  id: string
  state: string
  op_hash: string
  delivery_hash: string
  account_id: string
  quote_id: string
  origin_chain: number
  destination_chain: number
  wallet: string
  recipient: string
  input_token: string
  input_amount: bigint
  output_token: string
  min_output: bigint
  op_deadline: number
  fill_deadline: number
  refund_deadline: number
  locker: string
  position: bigint
  round: bigint
  creates_account: boolean
  credited: boolean
  exposed_cents: number
  lock_fee_bound: bigint
  delivery_fee_bound: bigint
}
export type AttemptRow = {
  id: string
  chain_id: number
  sender: string
  nonce: number
  role: string
  tx_hash: string
  raw: string
  effect_hash: string
  at: number
  swap_ids: string[]
}
export type Move = {
  at: number
  swap_id: string
  was: string | null
  became: string
  version: number
  proof: Proof | null
}
/** `kind` is the chain's state at this block, as recorded. */
export type Proof = {
  kind: string
  chainId: number
  block?: { number: string; hash: string; seconds: number }
}
type Attested = { kind: string; swap_ids: string[]; written_by: string; signature: string; at: number }

export type Database = {
  swaps: SwapRow[]
  attempts: AttemptRow[]
  moves: Move[]
  attested: Attested[]
  exposure: { chain_id: number; cents: number; booked: number }[]
  left: { reserved: number; exposed: number }
  ops: Pick<
    SwapRow,
    'op_hash' | 'origin_chain' | 'destination_chain' | 'op_deadline' | 'fill_deadline' | 'refund_deadline'
  >[]
}

/** The content of the database at rest. */
export async function readDatabase(url: string): Promise<Database> {
  const client = new pg.Client(url)
  await client.connect()
  const read = async <T>(sql: string) => (await client.query(sql)).rows as T[]
  try {
    const left = await read<{ reserved: string; exposed: string }>(
      `select (select coalesce(sum(reserved), 0) from inventory) as reserved,
              (select coalesce(sum(cents), 0) from exposure) as exposed`,
    )
    return {
      swaps: (await read<Raw>(SWAPS)).map(toSwap),
      attempts: (await read<Raw>(ATTEMPTS)).map(toAttempt),
      moves: (await read<Raw>(MOVES)).map((row) => ({ ...row, at: Number(row.at) }) as Move),
      attested: (await read<Raw>(ATTESTED)).map((row) => ({ ...row, at: Number(row.at) }) as Attested),
      exposure: (await read<Raw>('select chain_id, cents, booked from chaos_exposure order by n')).map(
        ({ chain_id, cents, booked }) => ({
          ...{ chain_id: Number(chain_id), cents: Number(cents), booked: Number(booked) },
        }),
      ),
      left: { reserved: Number(left[0]?.reserved), exposed: Number(left[0]?.exposed) },
      ops: (await read<Raw>(OPS)).map((row) => numbersOf(row, OP_NUMBERS)) as Database['ops'],
    }
  } finally {
    await client.end()
  }
}

type Raw = Record<string, unknown>
const OP_NUMBERS = ['origin_chain', 'destination_chain', 'op_deadline', 'fill_deadline', 'refund_deadline']

const SWAPS = `
  select s.id, s.state, o.hash as op_hash, o.delivery_hash, s.account_id, s.quote_id,
         s.origin_chain, s.destination_chain, s.wallet, o.recipient, s.input_token, s.input_amount,
         o.output_token, o.min_output, o.op_deadline, o.fill_deadline, o.refund_deadline, o.locker,
         o.position, o.round, o.creates_account, s.credited, s.exposed_cents, o.lock_fee_bound, o.delivery_fee_bound
    from swaps s join ops o on o.id = s.op_id`
const OPS = `select hash as op_hash, origin_chain, destination_chain, op_deadline, fill_deadline, refund_deadline
               from ops`
const ATTEMPTS = `
  select a.id, a.chain_id, a.sender, a.nonce, a.role, a.tx_hash, a.raw, a.effect_hash,
         extract(epoch from a.created_at) * 1000 as at,
         array(select swap_id from attempt_swaps l where l.attempt_id = a.id) as swap_ids
    from tx_attempts a order by a.id`
const MOVES = `select extract(epoch from at) * 1000 as at, swap_id, was, became, version, proof
                 from chaos_moves order by n`
const ATTESTED = `
  select a.kind, a.swap_ids, g.written_by, g.signature, extract(epoch from g.checked_at) * 1000 as at
    from attestations a join attestation_signatures g on g.attestation_id = a.id and g.signature is not null`

function numbersOf(row: Raw, names: readonly string[]): Raw {
  return { ...row, ...Object.fromEntries(names.map((name) => [name, Number(row[name])])) }
}

function toSwap(row: Raw): SwapRow {
  const bigints = ['input_amount', 'min_output', 'position', 'round', 'lock_fee_bound', 'delivery_fee_bound']
  const big = Object.fromEntries(bigints.map((name) => [name, BigInt(String(row[name]))]))
  return { ...numbersOf(row, [...OP_NUMBERS, 'exposed_cents']), ...big } as SwapRow
}

const toAttempt = (row: Raw) => numbersOf(row, ['chain_id', 'nonce', 'at']) as AttemptRow
