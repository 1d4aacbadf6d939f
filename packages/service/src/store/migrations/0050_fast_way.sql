-- What is paid for an input that is not final yet, and the part of the input that this costs; 0: nothing.
alter table ops add column fast_output numeric(78) not null default 0,
                add column risk_premium numeric(78) not null default 0;
alter table swaps add column is_paid_fast boolean not null default false;
-- The part of `cents` that was paid for a premium.
alter table exposure add column fast_cents bigint not null default 0;

-- The amounts also fall once after the lock: when a fast swap is paid before its lock is final.
create or replace function guard_lowered() returns trigger language plpgsql as $$
declare op ops%rowtype;
begin
  select * into op from ops where id = new.op_id;
  if new.lowered_output is null or new.lowered_pay is null or new.lowered_output < op.min_output
     or new.lowered_output > op.quoted_output or new.lowered_pay > op.pay_amount then
    raise exception 'swap % cannot be paid %', new.id, new.lowered_output;
  end if;
  if tg_op = 'UPDATE' then
    if old.state <> 'accepted' and not (new.is_paid_fast and not old.is_paid_fast) then
      raise exception 'the output of swap % is fixed', new.id;
    end if;
    if new.lowered_output > old.lowered_output or new.lowered_pay > old.lowered_pay then
      raise exception 'the output of swap % only falls', new.id;
    end if;
  end if;
  return new;
end $$;

create function guard_paid_fast() returns trigger language plpgsql as $$
begin
  if not new.is_paid_fast or new.lowered_output is null or old.state <> 'locked' or old.origin_final or old.origin_safe
     or not exists (select 1 from ops where id = new.op_id and fast_output > 0) then
    raise exception 'swap % is not paid for a premium', new.id;
  end if;
  return new;
end $$;
create trigger guard_paid_fast before update of is_paid_fast on swaps for each row
  when (new.is_paid_fast is distinct from old.is_paid_fast) execute function guard_paid_fast();

-- Exposure that was paid for a premium ends with the exposure of its swap, whoever ends that.
create function fast_cents_of(s swaps) returns bigint language sql stable as $$
  select case when s.is_paid_fast and not s.origin_final and s.state not in ('refunded', 'failed')
              then s.exposed_cents else 0 end
$$;
create function count_fast_cents() returns trigger language plpgsql as $$
declare change bigint := fast_cents_of(new) - fast_cents_of(old);
begin
  if change > 0 then
    insert into exposure as e (chain_id, fast_cents) values (new.origin_chain, change)
    on conflict (chain_id) do update set fast_cents = e.fast_cents + change;
  elsif change < 0 then
    update exposure set fast_cents = fast_cents + change where chain_id = new.origin_chain;
  end if;
  return null;
end $$;
create trigger count_fast_cents after update of exposed_cents, origin_final, state, is_paid_fast on swaps for each row
  when (old.is_paid_fast or new.is_paid_fast) execute function count_fast_cents();

-- A lost input counts until it is written off.
create function uncount_lost_fast() returns trigger language plpgsql as $$
begin
  update exposure e set fast_cents = e.fast_cents - fast_cents_of(s) from swaps s
   where s.id = new.swap_id and e.chain_id = new.chain_id and fast_cents_of(s) > 0;
  return null;
end $$;
create trigger uncount_lost_fast after update of written_off_at on lost_inputs for each row
  when (old.written_off_at is null and new.written_off_at is not null) execute function uncount_lost_fast();

do $$
declare
  name text;
begin
  foreach name in array array['fast_cents_of', 'count_fast_cents', 'uncount_lost_fast'] loop
    execute format('alter function %I security definer set search_path = %I, pg_temp', name, current_schema());
    execute format('revoke all on function %I from public', name);
  end loop;
end $$;
