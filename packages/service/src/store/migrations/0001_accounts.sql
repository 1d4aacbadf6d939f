-- Who may call, with which keys, and how often.

create table accounts (
  id         text primary key,
  name       text not null unique,
  -- Calls per second by class, {"quote": 100}; a class that is absent has the default.
  limits     jsonb not null default '{}',
  created_at timestamptz not null default now()
);

create table api_keys (
  -- Public part of the key: in logs, lists and the key itself.
  id         text primary key,
  account_id text not null references accounts (id),
  -- SHA-256 of the whole key. The key itself is shown once and kept nowhere.
  hash       bytea not null check (octet_length(hash) = 32),
  name       text not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);

create index api_keys_account on api_keys (account_id);

-- One token bucket per account and class of call, shared by all processes, which lease from it.
create table rate_budgets (
  account_id text not null references accounts (id),
  class      text not null,
  tokens     double precision not null,
  updated_at timestamptz not null,
  primary key (account_id, class)
);

-- Refills a bucket by the time passed, then takes up to `want` whole tokens out of it. A negative
-- `want` gives tokens back. The row lock makes processes take turns.
create function lease_rate_budget(
  in_account text, in_class text, rate float8, burst float8, want float8,
  out granted float8, out tokens float8
) language plpgsql as $$
declare
  bucket rate_budgets%rowtype;
  moment timestamptz;
begin
  insert into rate_budgets (account_id, class, tokens, updated_at)
  values (in_account, in_class, burst, clock_timestamp())
  on conflict do nothing;
  select * into bucket from rate_budgets b where b.account_id = in_account and b.class = in_class for update;
  -- Read after the lock was had: waiting for it is refill time too.
  moment := greatest(clock_timestamp(), bucket.updated_at);
  tokens := least(burst, bucket.tokens + rate * extract(epoch from moment - bucket.updated_at));
  granted := case when want < 0 then want else least(want, greatest(0, floor(tokens))) end;
  tokens := least(burst, tokens - granted);
  update rate_budgets b set tokens = lease_rate_budget.tokens, updated_at = moment
   where b.account_id = in_account and b.class = in_class;
end
$$;

-- Every API process keeps all keys and limits in memory and reads them again when this is heard.
create function notify_api_keys() returns trigger language plpgsql as $$
begin
  perform pg_notify('api_keys', '');
  return null;
end
$$;

create trigger api_keys_changed after insert or update or delete on api_keys
  for each statement execute function notify_api_keys();
create trigger accounts_changed after insert or update or delete on accounts
  for each statement execute function notify_api_keys();
