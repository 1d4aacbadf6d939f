-- The hard-final block by which an attempt was seen to be decided. Whoever looks at an earlier block, after a pause
-- or over a node that lags, cannot know what it did: for them it is open.
alter table tx_attempts add column final_block bigint;
