-- A quote looks up whether its recipient is the address of an op: what is paid there goes to that op's wallet.
create index ops_by_deposit_address on ops (deposit_address) where deposit_address is not null;
