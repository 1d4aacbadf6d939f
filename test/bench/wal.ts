import type { Pool } from 'pg'

/** Bytes of WAL without the images of whole pages, and of these. */
export type Wal = { records: number; images: number }

// A partition counts for its table, an index and a TOAST table for the table that has it.
const RELATIONS = `relations as (
  select r.oid, pg_relation_filenode(r.oid) as node,
         coalesce(p.inhparent, h.oid)::regclass::text as name,
         case when r.relkind = 'i' and h.oid = x.indrelid then 'indexes' when r.oid = h.oid then 'rows' else 'TOAST' end
           as kind
    from pg_class r
    left join pg_index x on x.indexrelid = r.oid
    left join pg_class t on t.reltoastrelid = coalesce(x.indrelid, r.oid)
    join pg_class h on h.oid = coalesce(t.oid, x.indrelid, r.oid)
    left join pg_inherits p on p.inhrelid = h.oid
   where r.relkind in ('r', 't', 'i'))`

/** The bytes written between two positions, by part; a record of several pages counts for the first of them. */
export async function readWal(
  pool: Pool,
  { from, to }: { from: string; to: string },
): Promise<Map<string, Wal>> {
  const { rows } = await pool.query<{ name: string; records: string; images: string }>(
    `with ${RELATIONS}, blocks as (
       select distinct on (start_lsn) start_lsn, relfilenode, reldatabase
         from pg_get_wal_block_info($1, $2) order by start_lsn, block_id)
     select case when w.resource_manager = 'Transaction' then 'commits'
                 when b.start_lsn is null then 'other records'
                 else coalesce(r.name || ' ' || r.kind, 'shared catalogue') end as name,
            sum(w.record_length - w.fpi_length) as records, sum(w.fpi_length) as images
       from pg_get_wal_records_info($1, $2) w
       left join blocks b on b.start_lsn = w.start_lsn
       left join relations r on r.node = b.relfilenode
        and b.reldatabase = (select oid from pg_database where datname = current_database())
      group by 1`,
    [from, to],
  )
  return new Map(
    rows.map(({ name, records, images }) => [name, { records: Number(records), images: Number(images) }]),
  )
}

/** Bytes of rows, indexes and TOAST, by table. */
export async function readSizes(pool: Pool): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ name: string; bytes: string }>(
    `with ${RELATIONS}
     select name || ' ' || kind as name, sum(pg_relation_size(oid)) as bytes
       from relations where name not like 'pg_%' and name not like 'information_schema%' group by 1`,
  )
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]))
}
