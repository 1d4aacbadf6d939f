import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { Pool } from 'pg'
import { reasonOf } from './chains/findings.ts'
import { type Env, readSetting } from './config/secrets.ts'
import { createPool } from './store/db.ts'
import { assertSession } from './store/server.ts'

/** A usage mistake: its message is all that the user needs to see. */
export class UsageError extends Error {}

export type { Env }

/** Results go to `out`, everything else to `hint`. */
export type Output = { out(text: string): void; hint(text: string): void }
/** The database of a command: a chosen one, or that of the local network. */
export type DatabaseTarget = { databaseUrl: string; sealKeys: string | undefined; isLocal: boolean }

/** Runs a command and returns its exit code. Errors are printed in one line. */
export async function runCommand(output: Output, command: () => Promise<number>): Promise<number> {
  try {
    return await command()
  } catch (error) {
    output.hint(describeError(error))
    return error instanceof UsageError ? 2 : 1
  }
}

/** `parseArgs` with its errors as usage errors. */
export function parseFlags<const T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}. Try --help.`)
  }
}

type Subcommand<Run> = (run: Run) => Promise<void>
type Subcommands<Run> = {
  args: string[]
  options: ParseArgsConfig['options']
  commands: Readonly<Record<string, Subcommand<Run>>>
}
type AskedSubcommand<Run> = { command: Subcommand<Run>; flags: object; rest: string[] }

/** Finds the subcommand that the arguments name, with its flags and other arguments. */
export function parseSubcommand<Run>({ args, options, commands }: Subcommands<Run>): AskedSubcommand<Run> {
  const { values: flags, positionals } = parseFlags({ args, options, allowPositionals: true })
  const [name, ...rest] = positionals
  if (name === undefined)
    throw new UsageError(`Command missing: use ${Object.keys(commands).join(', ')}. Try --help.`)
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) throw new UsageError(`Unknown command ${name}. Try --help.`)
  return { command, flags, rest }
}

/** `answerMs`: 0 if an answer may take any time. */
type Asking = { answerMs?: number }

/** Runs work on the database that DATABASE_URL names, or on that of the local network. */
export async function withDatabase<T>(
  env: Env,
  name: string,
  work: (pool: Pool) => Promise<T>,
  asking?: Asking,
): Promise<T> {
  return withDatabaseAt(findDatabaseTarget(env).databaseUrl, name, work, asking)
}

export async function withDatabaseAt<T>(
  databaseUrl: string,
  name: string,
  work: (pool: Pool) => Promise<T>,
  { answerMs }: Asking = {},
): Promise<T> {
  const pool = createPool(databaseUrl, { max: 1, applicationName: `geoswap ${name}`, answerMs })
  try {
    await assertSession(pool, false)
    return await work(pool)
  } finally {
    await pool.end()
  }
}

export function findDatabaseTarget(env: Env): DatabaseTarget {
  const problems: string[] = []
  const given = readSetting(env, 'DATABASE_URL', problems)
  const seal = readSetting(env, 'GEOSWAP_SEAL_KEYS', problems)
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  if (given) return { databaseUrl: given, sealKeys: seal, isLocal: false }
  const file = join(resolve(env.GEOSWAP_HOME ?? '.geoswap'), 'secrets.json')
  if (!existsSync(file)) {
    throw new UsageError(
      'DATABASE_URL is not set and no local network runs here. Set it, or run npm start first.',
    )
  }
  const { databaseUrl, sealKeys }: Record<string, unknown> = JSON.parse(readFileSync(file, 'utf8'))
  if (typeof databaseUrl !== 'string') throw new UsageError(`${file} has no databaseUrl.`)
  return { databaseUrl, sealKeys: typeof sealKeys === 'string' ? sealKeys : undefined, isLocal: true }
}

const UNDEFINED_TABLE = '42P01'
const NOT_ALLOWED = '42501'

/** Describes an error for the user of a command. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('code' in error && error.code === UNDEFINED_TABLE) {
    return 'This database has no tables yet: run `npm run service -- migrate` first.'
  }
  if ('code' in error && error.code === NOT_ALLOWED) {
    const roles =
      'Commands need a member of geoswap_operator; migrate and rebuild the role that owns the tables'
    return `The role in DATABASE_URL may not do this: ${error.message}. ${roles}.`
  }
  if (error instanceof AggregateError || ('code' in error && error.code === 'ECONNREFUSED')) {
    return 'The database cannot be reached. Is it running, and is DATABASE_URL right?'
  }
  if (error.name === 'HttpRequestError') return `its nodes do not answer: ${reasonOf(error)}`
  // Chain libraries append the whole request to their messages.
  return 'shortMessage' in error && typeof error.shortMessage === 'string'
    ? error.shortMessage
    : error.message
}

/** Formats rows as columns of equal width. */
export function toTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const toLine = (row: readonly string[]) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return rows.map((row) => toLine(row).trimEnd()).join('\n')
}

export const terminal: Output = {
  out: (text) => void process.stdout.write(`${text}\n`),
  hint: (text) => void process.stderr.write(`${text}\n`),
}
