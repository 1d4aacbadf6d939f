-- Each part of the service has a role of its own, which may write what its code writes and no more: store/grants.ts.
-- Triggers, and functions that only the owner of a table may run, run as the owner.

-- Takes a month of the log away that is over and of which no event is owed to a webhook. False when one is.
create function drop_swap_event_month(month text) returns boolean language plpgsql as $$
declare
  is_owed boolean;
begin
  if not exists (select 1 from swap_event_partitions p where p.name = month and p.ends_at <= clock_timestamp()) then
    raise exception '% is no month of the log that is over', month;
  end if;
  -- A replay may ask for events of it until here.
  lock table only swap_events in access exclusive mode;
  -- Everybody waits for this: what is owed is first narrowed to its positions.
  execute format('select exists (select 1 from webhook_deliveries d
                                   join %1$I e on e.position = d.position and e.position is not null
                                  where d.position >= (select min(position) from %1$I where position is not null)
                                    and d.position <= (select max(position) from %1$I where position is not null))',
                 month) into is_owed;
  if is_owed then return false; end if;
  execute format('drop table %I', month);
  return true;
end $$;

-- As before; who clears the log may clear the new month too.
create or replace function add_swap_event_month() returns text language plpgsql as $$
declare
  starts timestamptz;
  ends   timestamptz;
  name   text;
begin
  -- Events of this month move out of the default partition; the lock keeps others from adding to it.
  lock table swap_events_default in access exclusive mode;
  select max(ends_at) into starts from swap_event_partitions;
  ends := (starts at time zone 'utc' + interval '1 month') at time zone 'utc';
  name := 'swap_events_' || to_char(starts at time zone 'utc', 'YYYY_MM');
  execute format('create table %I (like swap_events including all)', name);
  perform prepare_swap_event_partition(name);
  if to_regrole('geoswap_worker') is not null then
    execute format('grant select, delete on %I to geoswap_worker', name);
  end if;
  execute format('with moved as (delete from swap_events_default where at >= %L and at < %L returning *)
                  insert into %I select * from moved', starts, ends, name);
  execute format('alter table swap_events attach partition %I for values from (%L) to (%L)', name, starts, ends);
  return name;
end $$;

-- Writes down what was found out about an orphan. The terms of every other op stay as they were signed.
create function adopt_orphan(
  op uuid, destination_chain bigint, output_token text, recipient text, min_output numeric, "position" bigint,
  round bigint, op_deadline bigint, fill_deadline bigint, refund_deadline bigint, destination_block bigint, terms jsonb
) returns void language sql as $$
  with adopted as (
    update ops set is_orphan = false, destination_chain = $2, output_token = $3, recipient = $4, min_output = $5,
                   quoted_output = $5, pay_token = $3, position = $6, round = $7, op_deadline = $8,
                   fill_deadline = $9, refund_deadline = $10, destination_block = $11, terms = $12
     where id = $1 and is_orphan returning id
  )
  update swaps s set destination_chain = $2 from adopted a where s.op_id = a.id
$$;

do $$
declare
  name text;
begin
  foreach name in array array['record_swap_event', 'sum_ledger_movement', 'add_swap_event_month',
                              'drop_swap_event_month', 'adopt_orphan'] loop
    -- Names mean the same whoever calls, and whatever temporary tables he has.
    execute format('alter function %I security definer set search_path = %I, pg_temp', name, current_schema());
    execute format('revoke all on function %I from public', name);
  end loop;
end $$;

-- Whose lane is whose: store/grants.ts. Everybody may see all of them.
alter table lanes enable row level security;
create policy lanes_seen on lanes for select using (true);
