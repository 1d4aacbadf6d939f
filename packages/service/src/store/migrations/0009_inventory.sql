-- Gas coin that the float sent to keys that send transactions. It counts against the limit of a day from the moment
-- it is signed, whatever becomes of it.
alter table tx_attempts drop constraint tx_attempts_role_check;
alter table tx_attempts add constraint tx_attempts_role_check
  check (role in ('lock', 'deliver', 'claim', 'refund', 'topup', 'noop'));
create table gas_topups (
  attempt_id bigint primary key references tx_attempts,
  chain_id   bigint not null,
  address    text   not null,
  amount     numeric(78) not null check (amount > 0),
  created_at timestamptz not null default clock_timestamp()
);
create index gas_topups_lately on gas_topups (chain_id, created_at);

-- What the operator moves into and out of the vaults by command. What a withdrawal takes is reserved, as for a swap,
-- until the chain shows how it ended: quotes and accepted swaps never count on it.
create table treasury_moves (
  chain_id   bigint not null,
  sender     text   not null,
  once       text   not null, -- the sender's nonce, or what takes its place: a move happens once
  kind       text   not null check (kind in ('deposit', 'withdraw')),
  token      text   not null,
  recipient  text   not null,
  amount     numeric(78) not null check (amount > 0),
  tx_hashes  text[] not null default '{}', -- everything that was signed for it, written before it is sent
  outcome    text check (outcome in ('landed', 'failed')),
  created_at timestamptz not null default clock_timestamp(),
  primary key (chain_id, sender, once)
);
create index treasury_moves_open on treasury_moves (created_at) where outcome is null;
