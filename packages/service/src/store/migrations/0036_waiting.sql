-- Why a swap waits for finality, and until when: { reason, until }. It changes no state, and is no event.
alter table swaps add column waiting jsonb;
