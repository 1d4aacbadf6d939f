-- Rows that are updated all the time leave dead versions behind, and a partial index over open swaps is only small
-- while those are cleared away. By default that waits for a fifth of a table, which of a million swaps is too long.
alter table swaps set (fillfactor = 85, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
                       autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000);
alter table ops set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.01);
alter table tx_attempts set (fillfactor = 90, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
                             autovacuum_analyze_scale_factor = 0.01);
alter table swap_events set (fillfactor = 90, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
                             autovacuum_analyze_scale_factor = 0.01);
alter table account_swaps set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.01);
-- Few rows, each of them changed many times a second: room beside them keeps changes off the indexes.
alter table lanes set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
alter table inventory set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
alter table exposure set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
alter table sender_keys set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- What retention looks for: ops that ran out, whichever account they are of.
create index ops_by_expiry on ops (expires_at);
