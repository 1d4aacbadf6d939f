-- The log of what callers see: one row per change of a swap, written by the transaction that changes it. Streams,
-- webhooks and nothing else read it; the swap's own row stays the truth about the swap.

create sequence swap_event_positions;
create table swap_events (
  -- Only a trigger on swaps writes here, and no swap is ever deleted: a foreign key would check that in vain.
  swap_id          text    not null,
  seq              integer not null, -- counts the changes of the swap; its row lock makes them commit in this order
  ticket           bigint  generated always as identity, -- the order of writing: a lower one may commit later
  -- The cursor for whoever reads across swaps: given after the commit, by one process at a time. Who has seen one
  -- will never see a lower one appear. Null until then.
  position         bigint,
  at               timestamptz not null default clock_timestamp(),
  -- What the swap's row said then. What is not here never changes.
  state            text    not null,
  origin_tx_hash   text,
  delivery_tx_hash text,
  refund_tx_hash   text,
  credited         boolean not null,
  delivered        numeric(78),
  failure_code     text,
  refund_reason    text,
  stages           integer not null, -- entries of the swap's timeline: it only grows
  updated_at       timestamptz not null,
  primary key (swap_id, seq)
);
create unique index swap_events_by_position on swap_events (position) where position is not null;
create index swap_events_unplaced on swap_events (ticket) where position is null;
create index swap_events_by_time on swap_events using brin (at);

-- Of the swap's last event.
alter table swaps add column seq integer not null default 1;

create function count_swap_event() returns trigger language plpgsql as $$
begin
  new.seq := old.seq + 1;
  return new;
end $$;
-- A stage, an outcome, an amount or a hash: everything that a status read shows and that can change.
create trigger count_swap_event before update on swaps for each row
  when ((old.timeline, old.origin_tx_hash, old.delivery_tx_hash, old.refund_tx_hash, old.credited, old.delivered,
         old.failure_code, old.refund_reason)
        is distinct from
        (new.timeline, new.origin_tx_hash, new.delivery_tx_hash, new.refund_tx_hash, new.credited, new.delivered,
         new.failure_code, new.refund_reason))
  execute function count_swap_event();

-- The public status of a state, as model/lifecycle.ts has it.
create function swap_status(state text) returns text language sql immutable parallel safe as $$
  select case when state in ('settled', 'claiming', 'closed') then 'settled'
              when state in ('failed', 'refunded') then state
              else 'pending' end
$$;

-- What an account's swaps are found by. Indexes on swaps itself would be written again at every move; these at the
-- first and the last.
create table account_swaps (
  account_id text not null,
  created_at timestamptz not null,
  swap_id    text not null,
  wallet     text not null,
  status     text not null,
  primary key (account_id, created_at, swap_id)
);
create index account_swaps_by_wallet on account_swaps (account_id, wallet, created_at, swap_id);
create index account_swaps_by_status on account_swaps (account_id, status, created_at, swap_id);

create function record_swap_event() returns trigger language plpgsql as $$
begin
  insert into swap_events (swap_id, seq, state, origin_tx_hash, delivery_tx_hash, refund_tx_hash, credited, delivered,
                           failure_code, refund_reason, stages, updated_at)
  values (new.id, new.seq, new.state, new.origin_tx_hash, new.delivery_tx_hash, new.refund_tx_hash, new.credited,
          new.delivered, new.failure_code, new.refund_reason, jsonb_array_length(new.timeline), new.updated_at);
  if tg_op = 'INSERT' then
    insert into account_swaps (account_id, created_at, swap_id, wallet, status)
    values (new.account_id, new.created_at, new.id, new.wallet, swap_status(new.state));
  elsif swap_status(new.state) <> swap_status(old.state) then
    update account_swaps set status = swap_status(new.state)
     where account_id = new.account_id and created_at = new.created_at and swap_id = new.id;
  end if;
  return null;
end $$;
create trigger record_first_event after insert on swaps for each row execute function record_swap_event();
create trigger record_next_event after update on swaps for each row
  when (new.seq <> old.seq) execute function record_swap_event();

-- A swap from before the log has what was known of it as its first event.
insert into swap_events (swap_id, seq, position, at, state, origin_tx_hash, delivery_tx_hash, refund_tx_hash, credited,
                         delivered, failure_code, refund_reason, stages, updated_at)
select id, seq, nextval('swap_event_positions'), updated_at, state, origin_tx_hash, delivery_tx_hash, refund_tx_hash,
       credited, delivered, failure_code, refund_reason, jsonb_array_length(timeline), updated_at
  from swaps;
insert into account_swaps (account_id, created_at, swap_id, wallet, status)
select account_id, created_at, id, wallet, swap_status(state) from swaps;

-- Where the events of an account's swaps are posted to.
create table webhook_endpoints (
  id                 text primary key,
  account_id         text not null references accounts (id),
  url                text not null,
  secret             text not null, -- sealed: the database alone does not tell it
  previous_secret    text,          -- signs too until this time, so that a receiver can change over
  previous_until     timestamptz,
  created_at         timestamptz not null default clock_timestamp(),
  failing_since      timestamptz, -- the first failure since something was accepted
  last_failure       text,
  disabled_at        timestamptz,
  disabled_because   text
);
create index webhook_endpoints_by_account on webhook_endpoints (account_id);

-- What is still owed to an endpoint: a row goes when the endpoint has accepted it.
create table webhook_deliveries (
  endpoint_id text   not null references webhook_endpoints on delete cascade,
  position    bigint not null, -- of the event
  attempts    integer not null default 0,
  next_at     timestamptz default clock_timestamp(), -- null: given up, until it is replayed
  primary key (endpoint_id, position)
);
create index webhook_deliveries_due on webhook_deliveries (endpoint_id, next_at) where next_at is not null;
