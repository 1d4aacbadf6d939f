-- On Solana, escrow accounts and markers of deliveries hold rent that returns to the fee payers.
alter table ledger_movements drop constraint ledger_movements_debit_check;
alter table ledger_movements add constraint ledger_movements_debit_check
  check (debit in ('locked', 'owed', 'spare', 'inventory', 'wallet', 'market', 'treasury', 'gas', 'network', 'rent',
                   'outside', 'unexplained'));
alter table ledger_movements drop constraint ledger_movements_credit_check;
alter table ledger_movements add constraint ledger_movements_credit_check
  check (credit in ('locked', 'owed', 'spare', 'inventory', 'wallet', 'market', 'treasury', 'gas', 'network', 'rent',
                    'outside', 'unexplained'));

alter table tx_attempts drop constraint tx_attempts_roles;
alter table tx_attempts add constraint tx_attempts_roles
  check (role in ('lock', 'deliver', 'claim', 'refund', 'recover', 'topup', 'sweep', 'noop')) not valid;

-- Up to which deadline all deliveries on a chain are swept.
create table sweep_cursors (
  chain_id      bigint primary key,
  fill_deadline bigint not null
);
create index ops_by_fill_deadline on ops (destination_chain, fill_deadline);
