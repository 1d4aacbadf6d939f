-- Gas coin that the sending keys spent, by day. A worker compares each reading of a balance with the one before: the
-- missing part was spent, since these keys send nothing but transactions of swaps.
create table gas_balances (
  chain_id bigint not null,
  address  text   not null,
  balance  numeric(78) not null,
  primary key (chain_id, address)
);
create table gas_days (
  day      date   not null, -- UTC
  chain_id bigint not null,
  address  text   not null,
  amount   numeric(78) not null,
  usd_e6   numeric(38) not null, -- at the price when it was spent
  primary key (day, chain_id, address)
);
