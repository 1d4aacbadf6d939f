-- The last price of each asset on each day (UTC), for the journal of the books.
create table price_days (
  day       date not null,
  asset     text not null,
  price_e18 numeric(78) not null check (price_e18 > 0), -- USD per whole token, times 10^18
  at        timestamptz not null default clock_timestamp(),
  primary key (day, asset)
);

-- A journal reads the movements of some days. They are booked in the order of time, so a few bytes suffice.
create index ledger_movements_by_time on ledger_movements using brin (booked_at);
