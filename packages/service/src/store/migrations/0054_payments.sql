-- What a payment of a request left at the address of an op is sent back as a deposit is.
drop index ops_deposits;
create index ops_deposits on ops (origin_chain, op_deadline) where method in ('deposit', 'transfer', 'payment');
