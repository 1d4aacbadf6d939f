-- A sent input counts for the day of its key when it arrives: the key, and its limit at the submission. Null: the key has
-- no daily limit, or the input is counted.
alter table swaps add column spending_key text, add column spending_most bigint;
