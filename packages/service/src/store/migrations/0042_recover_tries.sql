-- The tokens at addresses of ops that the service tried to send back: each once. What it cannot send is its owner's.
create table recover_tries (
  swap_id  text not null references swaps (id) on delete cascade,
  token    text not null,
  tried_at timestamptz not null default clock_timestamp(),
  primary key (swap_id, token)
);
