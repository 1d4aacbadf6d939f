import { INSERTED_COLUMNS } from './op-columns.ts'

/**
 * A part of the service with its own database role: the processes, the operator's commands, and the stops that the
 * dashboard raises. Migrations and rebuilds run as the owner of the tables instead.
 */
export const PARTS = ['api', 'worker', 'attester', 'operator', 'dashboard'] as const
export type Part = (typeof PARTS)[number]

/** The group role that holds a part's rights. It cannot log in: login roles are members of it. */
export const groupOf = (part: Part) => `geoswap_${part}`

/** Privileges in the syntax of `grant`. A part that is not named has none. */
type Rights = Partial<Record<Part, string>>

const RAISE_STOPS = `select,
  insert (why, note, raised_by, chain_id, asset, from_chain, from_token, to_chain, to_token),
  update (resumed_at, resumed_by, resumed_note)`
const DENIAL = 'point, role, address, chain_id, reason, list, version'
const HOLD_LANES = 'select, insert (name), update (holder, fence, expires_at)'

/**
 * Privileges on every table and view. They limit an attacker who controls one part: the API stores signed terms and
 * cannot change them, nor any result or signature of the worker or attester.
 */
export const TABLES: Readonly<Record<string, Rights>> = {
  migrations: { api: 'select', worker: 'select', attester: 'select', dashboard: 'select' },
  accounts: { api: 'select', operator: 'select, insert (id, name, limits, kind), update (limits)' },
  api_keys: {
    api: 'select',
    operator: `select, insert (id, account_id, hash, name, origins, rules), update (revoked_at, origins, rules)`,
  },
  key_spending: { api: 'select, insert, update (day, cents)', worker: 'select, insert, update (day, cents)' },
  rate_budgets: { api: 'select, insert, update (tokens, updated_at)' },
  held_places: { api: 'select, insert, delete' },
  service_epoch: { api: 'select' },
  ring_positions: { api: 'select, insert, update (last_round, op_id)', worker: 'select, update (op_id)' },
  ops: {
    // Only balance and expiry may change before a submission; the wallet signs the rest.
    api: `select, insert (${INSERTED_COLUMNS.join(', ')}, expires_at),
      update (wallet_balance, wallet_block, expires_at)`,
    worker: 'select, update (value_cents), delete',
    attester: 'select',
    operator: 'select',
  },
  swaps: {
    api: `select, insert (id, op_id, quote_id, account_id, origin_chain, destination_chain, wallet, input_token,
      input_amount, locker, signature, last_valid, delegation, timeline, lowered_output, lowered_pay,
      spending_key, spending_most)`,
    worker: `select, update (state, version, updated_at, locked_block, delivered_block, origin_safe, origin_tx_hash,
      delivery_tx_hash, refund_tx_hash, credited, delivered, failure_code, refund_reason, proof, timeline, origin_final,
      delivery_final, exposed_cents, unclaimed_cents, claim_booked, is_unsigned, deposit, lowered_output,
      lowered_pay, payout_booked, waiting, is_paid_fast, spending_key, deposit_senders)`,
    attester: 'select',
    operator: 'select',
  },
  account_swaps: { api: 'select', operator: 'select' },
  swap_events: { api: 'select, update (position)', worker: 'select', operator: 'select' },
  swap_event_partitions: { worker: 'select', operator: 'select' },
  webhook_endpoints: {
    api: `select, update (secret, previous_secret, failing_since, last_failure, disabled_at, disabled_because)`,
    operator: `select, insert (id, account_id, url, secret), delete, update (secret, previous_secret, previous_until,
      failing_since, last_failure, disabled_at, disabled_because)`,
  },
  webhook_deliveries: {
    api: 'select, insert (endpoint_id, position), update (attempts, next_at), delete',
    worker: 'select',
    operator: 'select, insert (endpoint_id, position, swap_id), update (attempts, next_at)',
  },
  sender_keys: { api: 'select', worker: 'select, insert, update (next_nonce)', attester: 'select' },
  tx_attempts: {
    // Whether the database lacks a transaction, and nothing of its bytes.
    api: 'select (chain_id, tx_hash)',
    worker: `select,
      insert (chain_id, sender, nonce, replacement, role, tx_hash, raw, effect_hash, request, last_valid),
      update (final_at, final_block, consumed_block, refusal)`,
    attester: 'select',
    operator: 'select',
  },
  attempt_swaps: { worker: 'select, insert', attester: 'select', operator: 'select' },
  recover_tries: { worker: 'select, insert (swap_id, token)' },
  wasted_gas: {
    api: 'select',
    worker: 'select, insert (attempt_id, swap_id, chain_id, fee, usd_e6), delete',
    operator: 'select',
  },
  wasted_hours: {
    api: 'select',
    worker: 'select, insert (scope, id, hour, usd_e6), update (usd_e6), delete',
    operator: 'select',
  },
  gas_balances: { worker: 'select, insert, update (balance)' },
  price_days: { worker: 'select, insert, update (price_e18, at)', operator: 'select' },
  gas_days: { api: 'select', worker: 'select, insert, update (amount, usd_e6)', operator: 'select' },
  sweep_cursors: { worker: 'select, insert, update (fill_deadline)' },
  gas_topups: { worker: 'select, insert (attempt_id, chain_id, address, amount)' },
  // Of versions before attester sets.
  attested_outcomes: {},
  attestations: {
    // A worker proposes outcomes, records the sending attempt, and deletes attestations that no swap needs.
    worker: 'select, insert (chain_id, kind, swap_ids, valid_until), update (attempt_id, sent_hour), delete',
    attester: 'select',
    operator: 'select',
  },
  // Row security leaves each attester's rows to its own login.
  attestation_signatures: {
    worker: 'select',
    attester: `select, insert (attestation_id, signer, signature, unproven),
      update (signature, unproven, checked_at)`,
    operator: 'select',
  },
  signed_outcomes: { attester: 'select, insert (op_hash, outcome), update (outcome)' },
  inventory: {
    api: 'select, update (reserved)',
    worker: 'select, insert (chain_id, token, held, at_block), update (held, reserved, at_block)',
    operator: 'select, insert (chain_id, token, held, at_block), update (held, reserved, at_block)',
  },
  treasury_moves: {
    worker: 'select',
    operator: `select, insert (chain_id, sender, once, kind, token, recipient, amount, account_id),
      update (tx_hashes, outcome)`,
  },
  exposure: {
    api: 'select',
    worker: 'select, insert, update (cents, unclaimed_cents)',
    operator: 'select, update (cents, unclaimed_cents)',
  },
  lost_inputs: {
    api: 'select',
    worker: 'select, insert (swap_id, chain_id, cents)',
    operator: 'select, update (written_off_at, note)',
  },
  claim_books: { api: 'select', worker: 'select, insert, update (open, claimed, hour)' },
  payout_books: { worker: 'select, insert, update (hour, paid)' },
  ledger_movements: {
    worker: `select, insert (chain_id, source, part, block, kind, token, amount, debit, credit, op_hash, swap_id)`,
    operator: 'select',
  },
  ledger_balances: { api: 'select', worker: 'select', operator: 'select' },
  ledger_cursors: { api: 'select', worker: 'select, insert, update (block, read_at)' },
  quote_stops: { api: 'select', worker: RAISE_STOPS, operator: RAISE_STOPS, dashboard: RAISE_STOPS },
  quarantine: {
    api: 'select',
    worker: 'select, insert (step, id, error), update (error, failures, last_at), delete',
    attester: 'select, insert (step, id, error), update (error, failures, last_at), delete',
    operator: 'select',
  },
  chain_cursors: { worker: 'select, insert, update (scanned_to)' },
  chain_events: {
    worker: `select, insert (chain_id, kind, id, block, block_hash, tx_hash, seen_at, amount, credited_to),
      update (block, block_hash, tx_hash, seen_at, amount, credited_to, final), delete`,
  },
  chain_views: { api: 'select', worker: 'select, insert, update (view, version, updated_at)' },
  swap_times: { api: 'select', worker: 'select, insert, update (durations_ms)' },
  lanes: { api: HOLD_LANES, worker: HOLD_LANES },
  screening_denials: {
    api: `insert (${DENIAL}, account_id, swap_id)`,
    worker: `insert (${DENIAL}, account_id, swap_id)`,
    operator: `select, insert (${DENIAL}, account_id, swap_id)`,
  },
  // A process that could add one could allow its own attacker.
  screening_overrides: {
    api: 'select',
    worker: 'select',
    operator: 'select, insert (verdict, address, reason, author)',
  },
  wallet_freezes: { api: 'select', operator: 'select, insert (wallet, is_frozen, reason, author)' },
  rebuild_points: { api: 'select', worker: 'select', attester: 'select' },
  rebuilds: {},
}

/**
 * Privileges on each partition of `swap_events` by its own name. Access through the parent table uses the parent's
 * privileges.
 */
export const PARTITION: Rights = { worker: 'select, delete' }

/** Privileges on every sequence. */
export const SEQUENCES: Readonly<Record<string, Rights>> = {
  swap_event_positions: { api: 'usage' },
  swap_events_ticket_seq: {},
  tx_attempts_id_seq: { worker: 'usage' },
  attestations_id_seq: {},
  chain_view_versions: { worker: 'usage' },
  ledger_movements_id_seq: {},
  quote_stops_id_seq: {},
  rebuilds_id_seq: {},
  screening_denials_id_seq: {},
  screening_overrides_id_seq: {},
  wallet_freezes_id_seq: {},
}

/** Privileges on every callable function; trigger functions cannot be called. */
export const FUNCTIONS: Readonly<Record<string, Rights>> = {
  lease_rate_budget: { api: 'execute' },
  lease_places: { api: 'execute' },
  utc_now: { api: 'execute', worker: 'execute' },
  swap_status: { api: 'execute', worker: 'execute', operator: 'execute' },
  adopt_orphan: { worker: 'execute' },
  add_swap_event_month: { worker: 'execute' },
  drop_swap_event_month: { worker: 'execute' },
  prepare_swap_event_partition: {},
  fast_cents_of: {},
  clear_screening_denials: { worker: 'execute' },
}

/** Row security of lanes: no part can take a lane of another. */
export const LANES: Rights = { api: "name = 'webhooks'", worker: "name <> 'webhooks'" }

type Right = { privilege: string; columns: readonly string[] | undefined }

/** Parses privileges and their columns; undefined means all columns. */
export function parseRights(text = ''): Right[] {
  return [...text.matchAll(/(\w+)(?:\s*\(([^)]*)\))?/g)].map(([, privilege = '', columns]) => ({
    privilege,
    columns: columns?.split(',').map((name) => name.trim()),
  }))
}
