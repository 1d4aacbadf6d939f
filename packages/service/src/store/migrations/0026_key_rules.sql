-- excused: accounts.accounts_kind_check is a new rule: of a new column, whose default it allows
-- A publishable key may be in a web page: it belongs to an account without secret keys, so that it shares no swap, rate
-- or webhook with one.
alter table accounts add kind text not null default 'secret' check (kind in ('secret', 'publishable'));
alter table api_keys
  -- Web origins from which a publishable key is accepted.
  add origins text[] not null default '{}',
  -- Limits of one key: {"maxSwapCents": 10000, "maxDayCents": 50000, "recipients": [...], "tokens": ["1:0x..."]}.
  add rules jsonb not null default '{}';

-- The value of swaps that a key with a daily limit submitted on its last day, by UTC.
create table key_spending (
  key_id text primary key references api_keys (id),
  day    date not null,
  cents  bigint not null
);
