-- A transfer of the wallet itself is waited for as a deposit is.
create or replace function await_deposit() returns trigger language plpgsql as $$
begin
  if new.state = 'accepted'
     and exists (select 1 from ops o where o.id = new.op_id and o.method in ('deposit', 'transfer')) then
    new.state := 'awaitingDeposit';
    new.timeline := jsonb_set(new.timeline, '{0,stage}', '"awaitingDeposit"');
  end if;
  return new;
end $$;

drop index ops_deposits;
create index ops_deposits on ops (origin_chain, op_deadline) where method in ('deposit', 'transfer');

-- Counted at each build: they can be paid until the deadline of their op, later than they could be submitted.
create index swaps_awaiting_by_account on swaps (account_id) where state = 'awaitingDeposit';
