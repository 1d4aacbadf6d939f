import { open } from 'node:fs/promises'
import type { Pool } from 'pg'

/** The statements of a time, and its transactions by role and by their first statement. */
export type Statements = {
  statements: number
  roles: ReadonlyMap<string, number>
  kinds: ReadonlyMap<string, number>
}

const SHOWN = 110
// A statement goes on in lines that begin with a tab.
const LOGGED = /^(\w+) (\d+) LOG: {2}(?:statement|execute [^:]+): (.*(?:\n\t.*)*)/gm

/** From now on PostgreSQL logs every statement with its role and process, and keeps its WAL. */
export async function logStatements(pool: Pool): Promise<void> {
  const settings = { log_statement: 'all', log_line_prefix: '%u %p ', wal_keep_size: '4GB' }
  for (const [name, value] of Object.entries(settings))
    await pool.query(`alter system set ${name} = '${value}'`)
  await pool.query('select pg_reload_conf()')
  await pool.query('create extension if not exists pg_walinspect')
}

/** Counts what PostgreSQL adds to its log until the answer is called. */
export async function countLogged(file: string): Promise<() => Promise<Statements>> {
  const handle = await open(file)
  const { size: from } = await handle.stat()
  return async () => {
    const { size: to } = await handle.stat()
    const { buffer } = await handle.read(Buffer.alloc(to - from), 0, to - from, from)
    await handle.close()
    return countIn(buffer.toString())
  }
}

export function countIn(log: string): Statements {
  const [roles, kinds] = [new Map<string, number>(), new Map<string, number>()]
  // By process: the first statement of the transaction that it is in.
  const within = new Map<string, string>()
  let statements = 0
  for (const [, role = '', process = '', sql = ''] of log.matchAll(LOGGED)) {
    statements += 1
    const isEnd = sql === 'commit' || sql === 'rollback'
    const first = within.get(process)
    if (sql === 'begin') within.set(process, '')
    else if (first === '' && !isEnd) within.set(process, `begin; ${sql}`)
    if (sql === 'begin' || (first !== undefined && !isEnd)) continue
    within.delete(process)
    addOne(roles, role)
    addOne(kinds, `${role}: ${(first || sql).replace(/\s+/g, ' ').slice(0, SHOWN)}`)
  }
  return { statements, roles, kinds }
}

function addOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
