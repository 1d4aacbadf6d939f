-- Who delivers an op, and what leaves the vault for it at most: the output itself, or what buys it.
alter table ops add column venue text, add column pay_token text, add column pay_amount numeric(78);
update ops set venue = 'inventory', pay_token = output_token, pay_amount = quoted_output;
alter table ops alter column venue set not null, alter column pay_token set not null,
                alter column pay_amount set not null;
