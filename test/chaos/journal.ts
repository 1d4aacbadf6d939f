import type { Pool } from 'pg'

// The run's own records in the database, written by triggers in the service's transactions: every transition
// of a swap, every change of the exposure, and every link of a signed transaction to a swap.
const JOURNAL = `
create table chaos_moves (
  n bigint generated always as identity primary key, at timestamptz not null default clock_timestamp(),
  swap_id text not null, was text, became text not null, version int not null, proof jsonb,
  origin_final boolean not null, delivery_tx_hash text, origin_tx_hash text
);
create function chaos_note_move() returns trigger language plpgsql
  security definer set search_path = public, pg_temp as $$
begin
  if tg_op = 'INSERT' or new.state <> old.state or new.version <> old.version
     or new.origin_final <> old.origin_final or new.delivery_tx_hash is distinct from old.delivery_tx_hash then
    insert into chaos_moves (swap_id, was, became, version, proof, origin_final, delivery_tx_hash, origin_tx_hash)
    values (new.id, case when tg_op = 'UPDATE' then old.state end, new.state, new.version, new.proof,
            new.origin_final, new.delivery_tx_hash, new.origin_tx_hash);
  end if;
  return null;
end $$;
create trigger chaos_note_move after insert or update on swaps for each row execute function chaos_note_move();

create table chaos_exposure (
  n bigint generated always as identity primary key, at timestamptz not null default clock_timestamp(),
  chain_id bigint not null, cents bigint not null, booked bigint not null
);
-- What the row says, and what it should say: the value of swaps with a signed delivery and a lock that may vanish.
create function chaos_note_exposure() returns trigger language plpgsql
  security definer set search_path = public, pg_temp as $$
begin
  insert into chaos_exposure (chain_id, cents, booked)
  select new.chain_id, new.cents, coalesce(sum(o.value_cents), 0)
    from swaps s join ops o on o.id = s.op_id
   where s.origin_chain = new.chain_id and not s.origin_final
     and s.state in ('delivering', 'settled', 'claiming', 'closed')
     and exists (select 1 from attempt_swaps l where l.swap_id = s.id and l.role = 'deliver');
  return null;
end $$;
create constraint trigger chaos_note_exposure after insert or update on exposure
  deferrable initially deferred for each row execute function chaos_note_exposure();
`

/** Installs the triggers whose records the checker reads afterwards. */
export async function installJournal(pool: Pool): Promise<void> {
  await pool.query(JOURNAL)
}
