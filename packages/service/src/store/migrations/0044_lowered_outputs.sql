-- What a swap is paid if the market moved between its quote and its lock. Null: as quoted.
alter table swaps add column lowered_output numeric(78), add column lowered_pay numeric(78);

-- The amounts only fall, never below what the wallet signed, and no more once a lock is recorded.
create function guard_lowered() returns trigger language plpgsql as $$
declare op ops%rowtype;
begin
  select * into op from ops where id = new.op_id;
  if new.lowered_output is null or new.lowered_pay is null or new.lowered_output < op.min_output
     or new.lowered_output > op.quoted_output or new.lowered_pay > op.pay_amount then
    raise exception 'swap % cannot be paid %', new.id, new.lowered_output;
  end if;
  if tg_op = 'UPDATE' then
    if old.state <> 'accepted' then
      raise exception 'the output of swap % is fixed', new.id;
    end if;
    if new.lowered_output > old.lowered_output or new.lowered_pay > old.lowered_pay then
      raise exception 'the output of swap % only falls', new.id;
    end if;
  end if;
  return new;
end $$;
create trigger guard_lowered_new before insert on swaps for each row
  when (new.lowered_output is not null or new.lowered_pay is not null) execute function guard_lowered();
create trigger guard_lowered before update of lowered_output, lowered_pay on swaps for each row
  when (new.lowered_output is distinct from old.lowered_output or new.lowered_pay is distinct from old.lowered_pay)
  execute function guard_lowered();
