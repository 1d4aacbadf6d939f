-- Swaps of an account whose input is not locked yet: what they hold back of the liquidity is limited.
create index swaps_unlocked_by_account on swaps (account_id) where state in ('accepted', 'locking');
