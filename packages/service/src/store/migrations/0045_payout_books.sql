-- Payouts of vaults without a cap of their own, by hour of the chain's clock: a vault on Solana is a key.
create table payout_books (
  chain_id bigint      not null,
  token    text        not null,
  hour     bigint      not null,
  paid     numeric(78) not null,
  primary key (chain_id, token)
);

-- Booked once, however often the delivery is signed.
alter table swaps add column payout_booked boolean not null default false;
