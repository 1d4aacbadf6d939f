-- Whether the wallet had code of others when the op was built. Null: unknown, and treated as none.
alter table ops add column is_contract boolean;

-- Gas of locks and deliveries that had no effect: each transaction once, in parts of the swaps that it was sent for.
create table wasted_gas (
  attempt_id bigint      not null references tx_attempts,
  swap_id    text        not null references swaps,
  chain_id   bigint      not null,
  fee        numeric(78) not null, -- in the smallest unit of the chain's coin
  usd_e6     numeric(38) not null, -- at the price when it was seen
  wasted_at  timestamptz not null default clock_timestamp(),
  primary key (attempt_id, swap_id)
);
create index wasted_gas_by_time on wasted_gas (wasted_at);

-- The same by wallet, account and chain, and by hour: what budgets are compared with.
create table wasted_hours (
  scope  text        not null check (scope in ('wallet', 'account', 'chain')),
  id     text        not null,
  hour   timestamptz not null,
  usd_e6 numeric(38) not null,
  primary key (scope, id, hour)
);
create index wasted_hours_by_time on wasted_hours (hour);
