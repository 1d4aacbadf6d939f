import { parseArgs } from 'node:util'
import type { Context } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import { findNearest } from '@geoswap/wire/nearest'

/** Appended to a refusal: empty if nothing is near. */
export function didYouMean(word: string, known: readonly string[], prefix = ''): string {
  const nearest = findNearest(word, known)
  return nearest === undefined ? '' : ` Did you mean ${prefix}${nearest}?`
}

/** 130: interrupted, as of any program that Ctrl-C ends. */
export type ExitCode = 0 | 1 | 2 | 130

type Option = { type: 'string' | 'boolean'; about: string; value?: string; multiple?: boolean }
type Options = Readonly<Record<string, Option>>
type ValueOf<Of extends Option> = Of['type'] extends 'boolean' ? boolean : string
type Values<Of extends Options> = {
  [Name in keyof Of]?: Of[Name]['multiple'] extends true ? ValueOf<Of[Name]>[] : ValueOf<Of[Name]>
}

type Command<Of extends Options = Options> = {
  /** The text after the command's name in its usage line. */
  usage: string
  about: string
  options: Of
  /** The minimum and maximum number of positional words. */
  words: readonly [number, number]
  /** The possible first words, if they are a fixed list. */
  actions?: readonly string[]
  examples: readonly string[]
  run(context: Context, args: { values: Values<Of>; words: string[] }): Promise<ExitCode>
}

export type AnyCommand = Command<Options>

/** A command in the list of all: its code is loaded when it is called. */
export type Entry = { about: string; load(): Promise<AnyCommand> }

/** Preserves the types of the options. */
export function defineCommand<const Of extends Options>(command: Command<Of>): AnyCommand {
  return command as unknown as AnyCommand
}

const EVERYWHERE = {
  url: { type: 'string', value: 'URL', about: 'the service to use, instead of the configured one' },
  insecure: {
    type: 'boolean',
    about: 'allow http to other machines, although anybody on the network path can change it',
  },
  json: { type: 'boolean', about: 'one JSON object on stdout, also for errors; never prompts' },
  help: { type: 'boolean', about: 'this text' },
} as const satisfies Options

/** The names of all options of a command. */
export function optionsOf(command: AnyCommand): string[] {
  return Object.keys({ ...command.options, ...EVERYWHERE })
}

type Parsed = { values: Record<string, unknown>; words: string[] }

export function parseCommand(name: string, command: AnyCommand, args: string[]): Parsed {
  const options = { ...command.options, ...EVERYWHERE }
  const types = Object.fromEntries(
    Object.entries(options).map(([key, { type, multiple = false }]: [string, Option]) => [
      key,
      { type, multiple },
    ]),
  )
  const { values, positionals: words } = parse(name, args, types)
  assertAction(name, command, words)
  const [least, most] = command.words
  const isFew = words.length < least && !values['help']
  if (isFew || words.length > most) throw misused(name, `geoswap ${name} ${command.usage}`)
  return { values, words }
}

function assertAction(name: string, { actions }: AnyCommand, [action]: readonly string[]): void {
  if (actions === undefined || action === undefined || actions.includes(action)) return
  throw misused(name, `geoswap ${name} has no ${action}.${didYouMean(action, actions)}`)
}

type Types = Record<string, { type: 'string' | 'boolean'; multiple: boolean }>

function parse(name: string, args: string[], options: Types) {
  const { tokens } = parseArgs({ args, options, allowPositionals: true, strict: false, tokens: true })
  const unknown = tokens.find((token) => token.kind === 'option' && !Object.hasOwn(options, token.name))
  if (unknown?.kind === 'option') {
    const hint = didYouMean(unknown.name, Object.keys(options), '--')
    throw misused(name, `geoswap ${name} has no option ${unknown.rawName}.${hint}`)
  }
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    throw misused(name, error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error))
  }
}

function misused(name: string, what: string): UserError {
  return new UserError('USAGE', what, { advice: `geoswap ${name} --help explains it.` })
}

export function helpOf(name: string, { usage, about, options, examples }: AnyCommand): string[] {
  const rows = Object.entries({ ...options, ...EVERYWHERE }).map(
    ([key, { value, about: of }]: [string, Option]) => [`--${key}${value ? ` ${value}` : ''}`, of],
  )
  return [
    `geoswap ${name} ${usage}`,
    '',
    ...about.split('\n'),
    '',
    ...columns(rows).map((line) => `  ${line}`),
    ...(examples.length > 0
      ? ['', 'Examples', ...examples.map((example) => `  geoswap ${name} ${example}`)]
      : []),
  ]
}

type Cells = readonly (string | undefined)[]

/** Pads each column to its widest cell, except the last. A row with an unknown cell is left out. */
export function columns(all: readonly (Cells | false | undefined)[]): string[] {
  const rows = all.filter(
    (row): row is readonly string[] => row !== false && row?.includes(undefined) === false,
  )
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
