-- excused: chain_events.chain_events_kinds is a new rule: it takes one kind more than the old one
-- excused: tx_attempts.tx_attempts_roles is a new rule: it takes one role more than the old one
-- How the input of an op comes in, and the op's own address. Older ops are all delegated.
alter table ops add column method text,
                add column deposit_address text,
                add column permit_nonce numeric(78);

-- What was seen of a deposit: { received, txHash, returned }, amounts as text.
alter table swaps add column deposit jsonb;
alter table swap_events add column deposit jsonb;

-- What lay at the address of an op and went back to its wallet: the id is op, token and transaction.
alter table chain_events drop constraint chain_events_kind_check;
alter table chain_events add constraint chain_events_kinds
  check (kind in ('locked', 'claimed', 'refunded', 'delivered', 'recovered')) not valid;

alter table tx_attempts drop constraint tx_attempts_role_check;
alter table tx_attempts add constraint tx_attempts_roles
  check (role in ('lock', 'deliver', 'claim', 'refund', 'recover', 'topup', 'noop')) not valid;

-- A swap whose input has to be deposited waits for it. By a trigger: the API may not choose the state of a swap.
create function await_deposit() returns trigger language plpgsql as $$
begin
  if new.state = 'accepted' and exists (select 1 from ops o where o.id = new.op_id and o.method = 'deposit') then
    new.state := 'awaitingDeposit';
    new.timeline := jsonb_set(new.timeline, '{0,stage}', '"awaitingDeposit"');
  end if;
  return new;
end $$;
create trigger await_deposit before insert on swaps for each row execute function await_deposit();

-- Looked at with each block: few, and each for a quarter of an hour.
create index swaps_awaiting on swaps (origin_chain, id) where state = 'awaitingDeposit';
create index ops_deposits on ops (origin_chain, op_deadline) where method = 'deposit';

drop trigger count_swap_event on swaps;
create trigger count_swap_event before update on swaps for each row
  when ((old.timeline, old.origin_tx_hash, old.delivery_tx_hash, old.refund_tx_hash, old.credited, old.delivered,
         old.failure_code, old.refund_reason, old.deposit)
        is distinct from
        (new.timeline, new.origin_tx_hash, new.delivery_tx_hash, new.refund_tx_hash, new.credited, new.delivered,
         new.failure_code, new.refund_reason, new.deposit))
  execute function count_swap_event();

create or replace function record_swap_event() returns trigger language plpgsql as $$
begin
  insert into swap_events (swap_id, seq, state, origin_tx_hash, delivery_tx_hash, refund_tx_hash, credited, delivered,
                           failure_code, refund_reason, deposit, stages, updated_at)
  values (new.id, new.seq, new.state, new.origin_tx_hash, new.delivery_tx_hash, new.refund_tx_hash, new.credited,
          new.delivered, new.failure_code, new.refund_reason, new.deposit, jsonb_array_length(new.timeline),
          new.updated_at);
  if tg_op = 'INSERT' then
    insert into account_swaps (account_id, created_at, swap_id, wallet, status)
    values (new.account_id, new.created_at, new.id, new.wallet, swap_status(new.state));
  elsif swap_status(new.state) <> swap_status(old.state) then
    update account_swaps set status = swap_status(new.state)
     where account_id = new.account_id and created_at = new.created_at and swap_id = new.id;
  end if;
  return null;
end $$;

create or replace function announce_swap() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform pg_notify('swap_work', 'lock:' || new.origin_chain || ':' || new.locker);
    return null;
  end if;
  if new.state = 'accepted' and old.state <> 'accepted' then
    perform pg_notify('swap_work', 'lock:' || new.origin_chain || ':' || new.locker);
  end if;
  if new.state = 'locked' and old.state <> 'locked' then
    perform pg_notify('swap_work', 'deliver:' || new.destination_chain);
  end if;
  if new.state in ('settled', 'failed', 'refunded') and new.state <> old.state
     or new.state in ('settled', 'claiming', 'closed') and new.delivery_tx_hash <> old.delivery_tx_hash
     or swap_status(new.state) <> 'pending' and new.deposit is distinct from old.deposit then
    perform pg_notify('swap_terminal', new.id);
  end if;
  return null;
end $$;

do $$
begin
  execute format('alter function record_swap_event security definer set search_path = %I, pg_temp', current_schema());
end $$;
