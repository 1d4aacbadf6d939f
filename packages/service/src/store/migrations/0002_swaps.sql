-- Amounts are numeric(78,0): uint256 in the smallest unit. Times that a contract checks are epoch seconds.

-- Raised after every restore of the database, so that an index is never issued twice.
create table service_epoch (
  only_row boolean primary key default true check (only_row),
  epoch    integer not null default 0 check (epoch between 0 and 255)
);
insert into service_epoch default values;

-- Order slots of the escrow, one ring per locker. A position is free while op_id is null.
create table ring_positions (
  chain_id   bigint not null,
  locker     text   not null,
  position   bigint not null,
  last_round bigint not null, -- the next op here takes a higher one
  op_id      uuid,
  primary key (chain_id, locker, position)
);
create index ring_positions_free on ring_positions (chain_id, locker, position) where op_id is null;

-- The first build of a quote: what the wallet is asked to sign.
create table ops (
  id                uuid primary key default gen_random_uuid(),
  quote_id          text not null unique, -- from inside the sealed quote: one quote is at most one op and one swap
  account_id        text not null,
  hash              text not null unique, -- the op's id on every chain
  delivery_hash     text not null,
  terms             jsonb not null,       -- the signed GeoOp, every field as text
  origin_chain      bigint not null,
  destination_chain bigint not null,
  wallet            text not null,
  input_token       text not null,
  input_amount      numeric(78) not null,
  output_token      text not null,
  quoted_output     numeric(78) not null,
  min_output        numeric(78) not null,
  swappable         numeric(78) not null, -- the input after fee and costs
  price_floor       numeric(78) not null, -- the output it must be worth at lock and delivery
  recipient         text not null,
  locker            text not null,
  position          bigint not null,
  round             bigint not null,
  op_deadline       bigint not null,
  fill_deadline     bigint not null,
  refund_deadline   bigint not null,
  wallet_balance    numeric(78) not null, -- of the input token, read at the build
  wallet_block      bigint not null,      -- the block which that balance reflects
  value_cents       bigint not null,      -- USD value of the input at the quote
  origin_block      bigint not null,      -- heads at the build: nothing about this op is older
  destination_block bigint not null,
  built_at          timestamptz not null default clock_timestamp(),
  expires_at        timestamptz not null
);
create index ops_unsubmitted on ops (account_id, expires_at);
create index ops_by_deadline on ops (origin_chain, op_deadline);

create table swaps (
  id                text primary key,
  op_id             uuid not null unique references ops,
  quote_id          text not null unique,
  account_id        text not null,
  state             text not null default 'accepted',
  version           integer not null default 0, -- every move is a compare-and-set on it
  origin_chain      bigint not null,
  destination_chain bigint not null,
  wallet            text not null,
  input_token       text not null,
  input_amount      numeric(78) not null,
  locker            text not null,
  signature         text not null,
  delegation        jsonb,                  -- the signed EIP-7702 authorization, for a first swap
  locked_block      bigint,                 -- where the input left the wallet
  origin_tx_hash    text,
  delivery_tx_hash  text,
  refund_tx_hash    text,
  credited          boolean not null default false, -- the token refused the push: the wallet withdraws itself
  delivered         numeric(78),
  origin_final      boolean not null default false, -- the lock is hard-final
  delivery_final    boolean not null default false,
  exposed_cents     bigint not null default 0, -- delivered against a lock that is not hard-final
  failure_code      text,
  refund_reason     text,
  proof             jsonb,                  -- what the chain showed when failed or a refund was decided
  timeline          jsonb not null default '[]',
  created_at        timestamptz not null default clock_timestamp(),
  updated_at        timestamptz not null default clock_timestamp()
);
create index swaps_open on swaps (origin_chain, destination_chain) where state not in ('closed', 'refunded', 'failed');
create index swaps_waiting on swaps (locker, origin_chain) where state = 'accepted';
create index swaps_by_wallet on swaps (wallet, input_token);

-- Keys that send transactions; a nonce is taken from here in the transaction that records its bytes.
create table sender_keys (
  chain_id   bigint not null,
  address    text   not null,
  next_nonce bigint not null,
  primary key (chain_id, address)
);

-- Write-ahead log: no signed byte leaves a process before its row is committed here.
create table tx_attempts (
  id          bigint generated always as identity primary key,
  chain_id    bigint not null,
  sender      text   not null,
  nonce       bigint not null,
  replacement integer not null default 0, -- 0 the first; higher ones pay more for the same nonce
  role        text   not null check (role in ('lock', 'deliver', 'claim', 'refund', 'noop')),
  tx_hash     text   not null unique,
  raw         text   not null,
  effect_hash text   not null, -- equal for every replacement, except a noop
  request     jsonb  not null, -- what was signed, to sign a replacement
  created_at  timestamptz not null default clock_timestamp(),
  final_at    timestamptz, -- the nonce is consumed at a hard-final block: this attempt can no longer land
  unique (chain_id, sender, nonce, replacement)
);
create index tx_attempts_open on tx_attempts (chain_id, sender, nonce) where final_at is null;

create table attempt_swaps (
  attempt_id bigint not null references tx_attempts,
  swap_id    text   not null references swaps,
  role       text   not null,
  primary key (attempt_id, swap_id)
);
create index attempt_swaps_by_swap on attempt_swaps (swap_id, role);

-- The operator's liquidity: held as the chain shows it, reserved for swaps that were accepted.
create table inventory (
  chain_id bigint not null,
  token    text   not null,
  held     numeric(78) not null,
  reserved numeric(78) not null default 0 check (reserved >= 0),
  at_block bigint not null,
  primary key (chain_id, token)
);

-- Value delivered against locks that are not hard-final, per origin chain.
create table exposure (
  chain_id bigint primary key,
  cents    bigint not null default 0 check (cents >= 0)
);

-- What the attester signed: at most one outcome per op, ever.
create table attested_outcomes (
  op_hash text primary key,
  outcome text not null check (outcome in ('claim', 'refund'))
);
create table attestations (
  id          bigint generated always as identity primary key,
  chain_id    bigint not null,
  kind        text   not null check (kind in ('claim', 'refund')),
  swap_ids    text[] not null, -- in the signed order
  valid_until bigint,
  signature   text   not null,
  attempt_id  bigint references tx_attempts, -- null until a relayer took it
  created_at  timestamptz not null default clock_timestamp()
);
create index attestations_unsent on attestations (chain_id) where attempt_id is null;
create index attestations_sent on attestations (attempt_id);

-- One worker at a time runs a lane (a sender key, the watch over a chain); a lease, not a lock, so that a
-- paused process loses it. The fence rises with every change of hands.
create table lanes (
  name       text primary key,
  holder     uuid,
  fence      bigint not null default 0,
  expires_at timestamptz not null default '-infinity'
);

create function utc_now() returns text language sql volatile as $$
  select to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

create function guard_swap() returns trigger language plpgsql as $$
begin
  if old.state in ('failed', 'refunded', 'closed') and new.state <> old.state then
    raise exception 'swap % is %: it cannot become %', old.id, old.state, new.state;
  end if;
  if old.state in ('settled', 'claiming') and new.state not in ('settled', 'claiming', 'closed') then
    raise exception 'swap % is settled: it cannot become %', old.id, new.state;
  end if;
  if old.state in ('refundDecided', 'refunding', 'refundBlocked')
     and new.state not in ('refundDecided', 'refunding', 'refundBlocked', 'refunded') then
    raise exception 'a refund of swap % is decided: it cannot become %', old.id, new.state;
  end if;
  if new.state <> old.state and new.version <> old.version + 1 then
    raise exception 'swap % moved without its version', old.id;
  end if;
  if new.state in ('failed', 'refundDecided') and new.proof is null then
    raise exception 'swap % needs a proof to become %', old.id, new.state;
  end if;
  return new;
end $$;
create trigger guard_swap before update on swaps for each row execute function guard_swap();

create function guard_delivery() returns trigger language plpgsql as $$
declare current text;
begin
  if new.role <> 'deliver' then return new; end if;
  select state into current from swaps where id = new.swap_id for update;
  if current not in ('locked', 'delivering', 'settled', 'claiming') then
    raise exception 'swap % is %: no delivery may be signed', new.swap_id, current;
  end if;
  return new;
end $$;
create trigger guard_delivery before insert on attempt_swaps for each row execute function guard_delivery();

-- Held status reads end when a status is terminal; a lane wakes when there is something for it to do.
create function announce_swap() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform pg_notify('swap_work', 'lock:' || new.origin_chain || ':' || new.locker);
    return null;
  end if;
  if new.state = 'locked' and old.state <> 'locked' then
    perform pg_notify('swap_work', 'deliver:' || new.destination_chain);
  end if;
  if new.state in ('settled', 'failed', 'refunded') and new.state <> old.state
     or new.state in ('settled', 'claiming', 'closed') and new.delivery_tx_hash <> old.delivery_tx_hash then
    perform pg_notify('swap_terminal', new.id);
  end if;
  return null;
end $$;
create trigger announce_swap after insert or update on swaps for each row execute function announce_swap();

create function announce_attestation() returns trigger language plpgsql as $$
begin
  perform pg_notify('swap_work', 'relay:' || new.chain_id);
  return null;
end $$;
create trigger announce_attestation after insert on attestations
  for each row execute function announce_attestation();
