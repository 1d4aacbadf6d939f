-- What was denied, by which list. Rows are only added, and cleared by age if the configuration says so.
create table screening_denials (
  id         bigint generated always as identity primary key,
  at         timestamptz not null default clock_timestamp(),
  point      text not null check (point in ('quote', 'submit', 'lock', 'deposit', 'delivery', 'payout')),
  role       text not null check (role in ('wallet', 'recipient', 'depositor', 'feeOwner')),
  address    text not null check (length(address) <= 128),
  chain_id   bigint not null,
  reason     text not null check (length(reason) <= 200),
  list       text not null check (length(list) <= 200),
  version    text not null check (length(version) <= 200),
  account_id text,
  swap_id    text
);
create unique index screening_denials_of_swaps on screening_denials (swap_id, point, role, address)
  where swap_id is not null;
create index screening_denials_by_time on screening_denials (at, id);

-- Decisions of the operator, which go before every list. The last one of an address counts.
create table screening_overrides (
  id       bigint generated always as identity primary key,
  at       timestamptz not null default clock_timestamp(),
  verdict  text not null check (verdict in ('allow', 'deny', 'lists')), -- lists: as the lists say, again
  address  text not null check (length(address) <= 128),
  reason   text not null check (reason <> ''),
  author   text not null check (author <> '')
);
create index screening_overrides_of_addresses on screening_overrides (address, id desc);

create function keep_screening() returns trigger language plpgsql as $$
begin
  raise exception 'what was decided is not changed: decide again';
end $$;
create trigger keep_screening_denials before update on screening_denials
  for each row execute function keep_screening();
create trigger keep_all_screening_denials before truncate on screening_denials
  for each statement execute function keep_screening();
create trigger keep_screening_overrides before update or delete on screening_overrides
  for each row execute function keep_screening();
create trigger keep_all_screening_overrides before truncate on screening_overrides
  for each statement execute function keep_screening();

-- Nobody can clear rows of the last year, whatever he asks for. Nobody else deletes any.
create function keep_young_denials() returns trigger language plpgsql as $$
begin
  if old.at > clock_timestamp() - interval '1 year' then
    raise exception 'what was decided is not changed: decide again';
  end if;
  return old;
end $$;
create trigger keep_young_denials before delete on screening_denials
  for each row execute function keep_young_denials();

create function clear_screening_denials(older_than_days integer, most integer) returns integer language plpgsql as $$
declare
  cleared integer;
begin
  delete from screening_denials where id in (
    select id from screening_denials
     where at < clock_timestamp() - make_interval(days => greatest(older_than_days, 366)) order by at, id limit most);
  get diagnostics cleared = row_count;
  return cleared;
end $$;
do $$
begin
  execute format('alter function clear_screening_denials security definer set search_path = %I, pg_temp',
                 current_schema());
  revoke all on function clear_screening_denials from public;
end $$;

-- Processes keep the overrides in memory and read them again when this is heard.
create function notify_screening_overrides() returns trigger language plpgsql as $$
begin
  perform pg_notify('screening_overrides', '');
  return null;
end $$;
create trigger screening_overrides_changed after insert on screening_overrides
  for each statement execute function notify_screening_overrides();

-- Who sent a deposit, if that was asked: they are screened again before the delivery.
alter table swaps add column deposit_senders text[];
