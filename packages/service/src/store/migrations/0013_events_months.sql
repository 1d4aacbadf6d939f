-- excused: swap_events.swap_events_pkey is gone: each partition has it, and no statement names it in "on conflict"
-- excused: swap_events.swap_events_by_position is gone: the same
-- The log by months, so that old ones go as a whole. What there is becomes the first partition as it stands.

alter table swap_events validate constraint swap_events_end;
-- From here on nobody else has the table; nothing below reads it.
lock table swap_events in access exclusive mode;

alter table swap_events rename to swap_events_first;
alter index swap_events_pkey rename to swap_events_first_pkey;
alter index swap_events_by_position rename to swap_events_first_by_position;
alter index swap_events_unplaced rename to swap_events_first_unplaced;
alter index swap_events_by_time rename to swap_events_first_by_time;

create table swap_events (like swap_events_first) partition by range (at);
alter table swap_events alter at set default clock_timestamp();
create index swap_events_unplaced on swap_events (ticket) where position is null;
create index swap_events_by_time on swap_events using brin (at);

-- Of an identity no partition may have one of its own: a plain sequence goes on where it was.
do $$
declare last bigint := nextval('swap_events_ticket_seq');
begin
  alter table swap_events_first alter ticket drop identity;
  create sequence swap_events_ticket_seq owned by swap_events.ticket;
  perform setval('swap_events_ticket_seq', last);
end $$;
alter table swap_events alter ticket set default nextval('swap_events_ticket_seq');

do $$
begin
  execute format('alter table swap_events attach partition swap_events_first for values from (minvalue) to (%L)',
    (select substring(pg_get_constraintdef(oid) from '''([^'']+)''')::timestamptz
       from pg_constraint where conname = 'swap_events_end'));
end $$;
alter table swap_events_first drop constraint swap_events_end;

-- A key of the whole table would have to contain the time: what it keeps apart is kept apart in each partition.
create function prepare_swap_event_partition(name text) returns void language plpgsql as $$
begin
  execute format('alter table %I add primary key (swap_id, seq)', name);
  execute format('create unique index %I on %I (position) where position is not null', name || '_by_position', name);
  execute format('alter table %I set (fillfactor = 90, autovacuum_vacuum_scale_factor = 0,
                    autovacuum_vacuum_threshold = 20000, autovacuum_analyze_scale_factor = 0.01)', name);
end $$;

-- Takes what has no month, so that no swap ever fails to move for want of one. Empty while a worker makes them ahead.
create table swap_events_default partition of swap_events default;
select prepare_swap_event_partition('swap_events_default');

-- From when to when each partition reaches; without a start everything before.
create view swap_event_partitions as
  select c.relname::text as name,
         substring(bound from 'FROM \(''([^'']+)''\)')::timestamptz as starts_at,
         substring(bound from 'TO \(''([^'']+)''\)')::timestamptz as ends_at
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
   cross join lateral pg_get_expr(c.relpartbound, c.oid) as bound
   where i.inhparent = 'swap_events'::regclass and bound <> 'DEFAULT';

-- Makes the month after the last one.
create function add_swap_event_month() returns text language plpgsql as $$
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
  execute format('with moved as (delete from swap_events_default where at >= %L and at < %L returning *)
                  insert into %I select * from moved', starts, ends, name);
  execute format('alter table swap_events attach partition %I for values from (%L) to (%L)', name, starts, ends);
  return name;
end $$;
select add_swap_event_month();

-- The end of a swap whose events are gone can be sent again: it is made of the swap then.
alter table webhook_deliveries add column swap_id text;
