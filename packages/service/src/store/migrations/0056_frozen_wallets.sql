-- Decisions of the operator about wallets that sign their requests instead of an API key. The last one counts.
create table wallet_freezes (
  id        bigint generated always as identity primary key,
  at        timestamptz not null default clock_timestamp(),
  wallet    text not null check (length(wallet) <= 128),
  is_frozen boolean not null,
  reason    text not null check (reason <> ''),
  author    text not null check (author <> '')
);
create index wallet_freezes_of_wallets on wallet_freezes (wallet, id desc);

create trigger keep_wallet_freezes before update or delete on wallet_freezes
  for each row execute function keep_screening();
create trigger keep_all_wallet_freezes before truncate on wallet_freezes
  for each statement execute function keep_screening();
-- Frozen wallets are kept in memory with the keys.
create trigger wallet_freezes_changed after insert on wallet_freezes
  for each statement execute function notify_api_keys();
