-- The books: what the chains show to have moved, at hard-final blocks. A row is one movement of one token out of one
-- account into another, so no set of rows can be out of balance: what the accounts of a token hold adds up to zero.
create table ledger_movements (
  id        bigint generated always as identity primary key,
  chain_id  bigint not null,
  source    text   not null, -- the transaction, or the block at which balances were counted
  part      bigint not null, -- which movement of it: a movement is booked once
  block     bigint not null,
  kind      text   not null,
  token     text   not null,
  amount    numeric(78) not null check (amount > 0),
  debit     text   not null, -- the account that has less now
  credit    text   not null, -- the account that has more
  op_hash   text,
  swap_id   text,
  booked_at timestamptz not null default clock_timestamp(),
  unique (chain_id, source, part),
  check (debit <> credit),
  check (debit in ('locked', 'owed', 'spare', 'inventory', 'wallet', 'market', 'treasury', 'gas', 'network', 'outside',
                   'unexplained')),
  check (credit in ('locked', 'owed', 'spare', 'inventory', 'wallet', 'market', 'treasury', 'gas', 'network', 'outside',
                    'unexplained'))
);
create index ledger_movements_by_op on ledger_movements (op_hash, kind) where op_hash is not null;
create index ledger_movements_by_swap on ledger_movements (swap_id) where swap_id is not null;

-- The sum of the movements. Only the trigger below writes here.
create table ledger_balances (
  chain_id bigint not null,
  token    text   not null,
  account  text   not null,
  amount   numeric(78) not null,
  primary key (chain_id, token, account)
);

create function sum_ledger_movement() returns trigger language plpgsql as $$
begin
  insert into ledger_balances as b (chain_id, token, account, amount)
  values (new.chain_id, new.token, new.debit, -new.amount), (new.chain_id, new.token, new.credit, new.amount)
  on conflict (chain_id, token, account) do update set amount = b.amount + excluded.amount;
  return null;
end $$;
create trigger sum_ledger_movement after insert on ledger_movements
  for each row execute function sum_ledger_movement();

create function keep_ledger_movements() returns trigger language plpgsql as $$
begin
  raise exception 'what is booked is not changed: book the opposite';
end $$;
create trigger keep_ledger_movements before update or delete on ledger_movements
  for each row execute function keep_ledger_movements();
create trigger keep_all_ledger_movements before truncate on ledger_movements
  for each statement execute function keep_ledger_movements();

-- How far a chain is booked. What was held when the books were opened is in them as one movement for each token.
create table ledger_cursors (
  chain_id     bigint primary key,
  opened_block bigint not null,
  block        bigint not null,
  read_at      timestamptz not null default clock_timestamp()
);

create index ops_by_delivery_hash on ops (delivery_hash);

-- What is not quoted. A stop is over when it is resumed; the row stays.
create table quote_stops (
  id           bigint generated always as identity primary key,
  why          text not null check (why in ('operator', 'drift')),
  chain_id     bigint, -- null: on every chain
  asset        text,   -- null: every asset
  from_chain   bigint, -- of a route: both tokens, and nothing above
  from_token   text,
  to_chain     bigint,
  to_token     text,
  note         text not null,
  raised_by    text not null,
  since        timestamptz not null default clock_timestamp(),
  resumed_at   timestamptz,
  resumed_by   text,
  resumed_note text,
  check (num_nulls(from_chain, from_token, to_chain, to_token) in (0, 4)),
  check (from_chain is null or (chain_id is null and asset is null)),
  check ((resumed_at is null) = (resumed_note is null))
);
create index quote_stops_active on quote_stops (id) where resumed_at is null;

-- Every API process keeps the active ones in memory and reads them again when this is heard.
create function notify_quote_stops() returns trigger language plpgsql as $$
begin
  perform pg_notify('quote_stops', '');
  return null;
end $$;
create trigger quote_stops_changed after insert or update or delete on quote_stops
  for each statement execute function notify_quote_stops();
