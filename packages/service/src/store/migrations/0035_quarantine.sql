-- Items of shared loops that failed three times. They are tried once a minute and stop nothing else.
create table quarantine (
  step     text        not null,
  id       text        not null,
  error    text        not null,
  failures integer     not null default 1,
  since    timestamptz not null default clock_timestamp(),
  last_at  timestamptz not null default clock_timestamp(),
  primary key (step, id)
);
