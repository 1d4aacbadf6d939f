-- How many callers of an account each API process may hold at once. Unlogged: with the database the connections are
-- gone too, and each process asks again within seconds.
create unlogged table held_places (
  account_id text        not null,
  process    uuid        not null,
  places     integer     not null,
  expires_at timestamptz not null, -- a process that died gives its places back by this
  primary key (account_id, process)
);

-- Lets a process hold `want` callers of an account in all, as far as the other processes leave room for them; returns
-- how many it may.
create function lease_places(in_account text, in_process uuid, want integer, most integer, seconds float8)
returns integer language plpgsql as $$
declare
  granted integer;
begin
  -- Whoever waits here reads after the one before has committed.
  perform pg_advisory_xact_lock(hashtextextended('held ' || in_account, 0));
  delete from held_places h
   where h.account_id = in_account and (h.process = in_process or h.expires_at <= clock_timestamp());
  select least(want, greatest(0, most - coalesce(sum(h.places), 0))) into granted
    from held_places h where h.account_id = in_account;
  if granted > 0 then
    insert into held_places values (in_account, in_process, granted, clock_timestamp() + make_interval(secs => seconds));
  end if;
  return granted;
end
$$;
