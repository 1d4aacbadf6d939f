-- A transaction is stored twice, signed and as a request: both are compressed, and lie outside of a row that changes
-- twice more.
alter table tx_attempts set (toast_tuple_target = 512);

-- What a few hundred swaps left behind is cleared away before it takes more room than the swaps themselves. Of a large
-- table no vacuum reads the indexes for so few rows.
alter table swaps set (autovacuum_vacuum_threshold = 1000);
alter table tx_attempts set (autovacuum_vacuum_threshold = 1000);
create or replace function prepare_swap_event_partition(name text) returns void language plpgsql as $$
begin
  execute format('alter table %I add primary key (swap_id, seq)', name);
  execute format('create unique index %I on %I (position) where position is not null', name || '_by_position', name);
  execute format('alter table %I set (fillfactor = 90, autovacuum_vacuum_scale_factor = 0,
                    autovacuum_vacuum_threshold = 2000, autovacuum_analyze_scale_factor = 0.01)', name);
end $$;
do $$
declare partition text;
begin
  for partition in select inhrelid::regclass from pg_inherits where inhparent = 'swap_events'::regclass loop
    execute format('alter table %s set (autovacuum_vacuum_threshold = 2000)', partition);
  end loop;
end $$;

-- The same as ops_by_delivery.
drop index ops_by_delivery_hash;

-- Sums once for each statement: one books the movements of many swaps.
create or replace function sum_ledger_movement() returns trigger language plpgsql as $$
begin
  insert into ledger_balances as b (chain_id, token, account, amount)
  select m.chain_id, m.token, m.account, sum(m.amount)
    from (select chain_id, token, debit as account, -amount as amount from added
          union all select chain_id, token, credit, amount from added) m
   group by 1, 2, 3 order by 1, 2, 3
  on conflict (chain_id, token, account) do update set amount = b.amount + excluded.amount;
  return null;
end $$;
drop trigger sum_ledger_movement on ledger_movements;
create trigger sum_ledger_movement after insert on ledger_movements referencing new table as added
  for each statement execute function sum_ledger_movement();

do $$ begin
  execute format('alter function sum_ledger_movement security definer set search_path = %I, pg_temp', current_schema());
  revoke all on function sum_ledger_movement from public;
end $$;
