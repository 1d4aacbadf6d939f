-- The caller's own name for the swap of a quote.
alter table ops add column external_id text;
alter table account_swaps add column external_id text;
create index account_swaps_by_external_id on account_swaps (account_id, external_id, created_at, swap_id)
  where external_id is not null;

create function name_account_swap() returns trigger language plpgsql as $$
begin
  select o.external_id into new.external_id from swaps s join ops o on o.id = s.op_id where s.id = new.swap_id;
  return new;
end $$;
create trigger name_account_swap before insert on account_swaps for each row execute function name_account_swap();

do $$ begin
  execute format('alter function name_account_swap security definer set search_path = %I, pg_temp', current_schema());
  revoke all on function name_account_swap from public;
end $$;
