-- Why every node refused a recorded transaction, all for the same reason. It counts as sent all the same.
alter table tx_attempts add column refusal text;
