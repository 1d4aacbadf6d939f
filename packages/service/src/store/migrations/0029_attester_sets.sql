-- Several attesters sign one attestation. A worker proposes it, which fixes its ops and their order. Each attester then
-- writes rows of its own, which no other attester can change: it is known by its login role.
alter table attestations alter signature drop not null;

create table attestation_signatures (
  attestation_id bigint not null references attestations on delete cascade,
  written_by     name   not null default session_user,
  signer         text   not null,
  signature      text, -- null until this attester has seen all of it to be true
  unproven       text[] not null default '{}', -- swaps that it has not seen to be so
  checked_at     timestamptz not null default clock_timestamp(),
  primary key (attestation_id, written_by, signer)
);

-- What each attester signed: at most one outcome per op, ever.
create table signed_outcomes (
  op_hash    text not null,
  written_by name not null default session_user,
  outcome    text not null check (outcome in ('claim', 'refund')),
  primary key (op_hash, written_by)
);

do $$
declare
  name text;
begin
  foreach name in array array['attestation_signatures', 'signed_outcomes'] loop
    execute format('alter table %I enable row level security', name);
    execute format('create policy %I on %I for select using (true)', name || '_seen', name);
    execute format('create policy %I on %I using (written_by = session_user) with check (written_by = session_user)',
                   name || '_own', name);
  end loop;
end $$;

create function announce_signature() returns trigger language plpgsql as $$
begin
  perform pg_notify('swap_work', 'relay:' || chain_id) from attestations where id = new.attestation_id;
  return null;
end $$;
create trigger announce_signature after insert or update of signature on attestation_signatures
  for each row when (new.signature is not null) execute function announce_signature();
