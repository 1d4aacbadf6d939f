import type { Db } from '../../src/store/db.ts'

/**
 * The parts of a schema that a version of the service can see, by name. Values are compared, never parsed, except
 * lists.
 */
type Schema = {
  tables: ReadonlySet<string>
  /** By `table.column`. */
  columns: ReadonlyMap<string, { type: string; isNullable: boolean; hasDefault: boolean }>
  /** Constraints by `table.name`: checks, keys, references and unique indexes. */
  rules: ReadonlyMap<string, string>
  /** By `table.name`. */
  triggers: ReadonlySet<string>
  /** Return types by name and argument types. */
  functions: ReadonlyMap<string, string>
}

/**
 * The reasons why a version that runs on `before` could not run on `after`: a part it uses is missing, or a write is
 * refused. Empty if the change only adds.
 */
export function findContractions(before: Schema, after: Schema): string[] {
  const stays = (name: string) => after.tables.has(tableOf(name))
  const wasThere = (name: string) => before.tables.has(tableOf(name))
  return [
    ...[...before.tables, ...before.triggers]
      .filter((name) => !has(after, name))
      .map((name) => `${name} is gone`),
    ...[...before.columns].flatMap(([name, was]) =>
      stays(name) ? columnContractions(name, was, after.columns.get(name)) : [],
    ),
    ...[...after.columns].flatMap(([name, { isNullable, hasDefault }]) => {
      const isOptional = isNullable || hasDefault
      if (isOptional || before.columns.has(name) || !wasThere(name)) return []
      return [`${name} is new and required`]
    }),
    ...[...after.rules].flatMap(([name, rule]) =>
      wasThere(name) ? ruleContractions(name, before.rules.get(name), rule) : [],
    ),
    // `on conflict` names the columns of such a rule.
    ...[...before.rules]
      .filter(([name, rule]) => /UNIQUE|PRIMARY KEY/.test(rule) && stays(name) && !after.rules.has(name))
      .map(([name]) => `${name} is gone`),
    ...[...before.functions].flatMap(([name, returned]) => {
      const returns = after.functions.get(name)
      if (returns === returned) return []
      return [returns === undefined ? `${name} is gone` : `${name} returns ${returns} instead of ${returned}`]
    }),
  ]
}

function has({ tables, triggers }: Schema, name: string): boolean {
  return tables.has(name) || triggers.has(name) || (name.includes('.') && !tables.has(tableOf(name)))
}

type Column = Schema['columns'] extends ReadonlyMap<string, infer C> ? C : never

function columnContractions(name: string, was: Column, now: Column | undefined): string[] {
  if (!now) return [`${name} is gone`]
  if (now.type !== was.type) return [`${name} is ${now.type} instead of ${was.type}`]
  if (was.isNullable && !now.isNullable) return [`${name} may no longer be null`]
  if (was.hasDefault && !now.hasDefault && !now.isNullable) return [`${name} no longer has a default`]
  return []
}

function ruleContractions(name: string, was: string | undefined, rule: string): string[] {
  if (was === undefined) return [`${name} is a new rule: ${rule}`]
  return allowsAtLeast(rule, was) ? [] : [`${name} is stricter: ${rule}`]
}

const tableOf = (name: string) => name.split('.')[0] ?? name

/** Whether the rule is the same, or the same list of allowed values with more entries. */
function allowsAtLeast(rule: string, was: string): boolean {
  if (rule === was) return true
  const [now, before] = [toList(rule), toList(was)]
  return now.frame === before.frame && before.values.every((value) => now.values.includes(value))
}

// As PostgreSQL prints `in (…)`.
const LIST = /ARRAY\[([^\]]*)\]/

function toList(rule: string): { frame: string; values: string[] } {
  const values = LIST.exec(rule)?.[1]?.split(', ') ?? []
  return { frame: rule.replace(LIST, 'ARRAY[]'), values }
}

/** The current schema of the server. */
export async function readSchema(db: Db): Promise<Schema> {
  const tables = await db.query<{ name: string }>(
    `select c.relname as name from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S')`,
  )
  const columns = await db.query<{ name: string; type: string; is_nullable: boolean; has_default: boolean }>(
    `select c.relname || '.' || a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
            not a.attnotnull as is_nullable, a.atthasdef or a.attidentity <> '' as has_default
       from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
        and a.attnum > 0 and not a.attisdropped`,
  )
  const rules = await db.query<{ name: string; rule: string }>(
    `select c.relname || '.' || k.conname as name, pg_get_constraintdef(k.oid) as rule
       from pg_constraint k join pg_class c on c.oid = k.conrelid
      where c.relnamespace = 'public'::regnamespace and k.contype <> 'n'
      union all
     select c.relname || '.' || i.relname, pg_get_indexdef(i.oid)
       from pg_index x join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
      where c.relnamespace = 'public'::regnamespace and x.indisunique
        and not exists (select 1 from pg_constraint k where k.conindid = i.oid)`,
  )
  const triggers = await db.query<{ name: string }>(
    `select c.relname || '.' || t.tgname as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where c.relnamespace = 'public'::regnamespace and not t.tgisinternal`,
  )
  const functions = await db.query<{ name: string; returns: string }>(
    `select p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')' as name,
            pg_get_function_result(p.oid) as returns
       from pg_proc p where p.pronamespace = 'public'::regnamespace`,
  )
  return {
    tables: new Set(tables.rows.map(({ name }) => name)),
    columns: new Map(
      columns.rows.map(({ name, type, is_nullable: isNullable, has_default: hasDefault }) => [
        name,
        { type, isNullable, hasDefault },
      ]),
    ),
    rules: new Map(rules.rows.map(({ name, rule }) => [name, rule])),
    triggers: new Set(triggers.rows.map(({ name }) => name)),
    functions: new Map(functions.rows.map(({ name, returns }) => [name, returns])),
  }
}
