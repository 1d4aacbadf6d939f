-- A swap that ended frees the position of its op: without this index it reads all positions.
create index ring_positions_by_op on ring_positions (op_id) where op_id is not null;
