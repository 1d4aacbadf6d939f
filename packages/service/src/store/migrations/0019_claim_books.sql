-- What is booked of each token's claim cap on its origin chain: model/claim-room.ts has the rule.
create table claim_books (
  chain_id bigint not null,
  token    text   not null,
  open     numeric(78) not null default 0 check (open >= 0), -- locked or being locked, and not claimed for good
  claimed  numeric(78) not null default 0,                   -- claimed for good, in `hour` at the latest
  hour     bigint not null default 0,                        -- of the chain's clock since 1970
  primary key (chain_id, token)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

alter table swaps add claim_booked boolean not null default false; -- its input is part of `open`, until it is over
alter table swaps add unclaimed_cents bigint not null default 0;   -- delivered, and its input not claimed for good
alter table exposure add unclaimed_cents bigint not null default 0;

-- The hour of the chain's clock in which a claim was sent: one that its cap put off is sent again in a later one.
alter table attestations add sent_hour bigint;

-- Swaps that are on their way.
update swaps set claim_booked = true where state in ('locking', 'locked', 'delivering', 'settled', 'claiming');
insert into claim_books (chain_id, token, open)
select origin_chain, input_token, sum(input_amount) from swaps where claim_booked group by 1, 2;
update swaps s set unclaimed_cents = o.value_cents from ops o
 where o.id = s.op_id and s.state in ('delivering', 'settled', 'claiming');
insert into exposure as e (chain_id, unclaimed_cents)
select origin_chain, sum(unclaimed_cents) from swaps group by 1 having sum(unclaimed_cents) > 0
on conflict (chain_id) do update set unclaimed_cents = excluded.unclaimed_cents;
insert into exposure as e (chain_id, unclaimed_cents)
select chain_id, sum(cents) from lost_inputs where written_off_at is null group by 1
on conflict (chain_id) do update set unclaimed_cents = e.unclaimed_cents + excluded.unclaimed_cents;
