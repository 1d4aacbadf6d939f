-- The part of an input that is owed to the account whose swap it was, once the input is claimed.
alter table ops add column integrator_fee numeric(78) not null default 0;

-- In the vaults, and not the operator's.
alter table ledger_movements drop constraint ledger_movements_debit_check;
alter table ledger_movements add constraint ledger_movements_debit_check
  check (debit in ('locked', 'owed', 'spare', 'inventory', 'wallet', 'market', 'treasury', 'gas', 'network', 'rent',
                   'integrators', 'outside', 'unexplained'));
alter table ledger_movements drop constraint ledger_movements_credit_check;
alter table ledger_movements add constraint ledger_movements_credit_check
  check (credit in ('locked', 'owed', 'spare', 'inventory', 'wallet', 'market', 'treasury', 'gas', 'network', 'rent',
                    'integrators', 'outside', 'unexplained'));
create index ledger_movements_to_integrators on ledger_movements (chain_id, token) where credit = 'integrators';

-- The account that a withdrawal pays; null: the operator's own.
alter table treasury_moves add column account_id text;
create index treasury_moves_of_accounts on treasury_moves (chain_id, token) where account_id is not null;
