import { parseArgs } from 'node:util'
import type { Context } from '@geoswap/wallet/context'
import { CliError } from '@geoswap/wallet/errors'

export type ExitCode = 0 | 1 | 2

type Option = { type: 'string' | 'boolean'; about: string; value?: string }
type Options = Readonly<Record<string, Option>>
type Values<Of extends Options> = {
  [Name in keyof Of]?: Of[Name]['type'] extends 'boolean' ? boolean : string
}

export type Command<Of extends Options = Options> = {
  /** The text after the command's name in its usage line. */
  usage: string
  about: string
  options: Of
  /** The minimum and maximum number of positional words. */
  words: readonly [number, number]
  examples: readonly string[]
  run(context: Context, args: { values: Values<Of>; words: string[] }): Promise<ExitCode>
}

export type AnyCommand = Command<Options>

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

type Parsed = { values: Record<string, string | boolean | undefined>; words: string[] }

export function parseCommand(name: string, command: AnyCommand, args: string[]): Parsed {
  const options = { ...command.options, ...EVERYWHERE }
  const types = Object.fromEntries(Object.entries(options).map(([key, { type }]) => [key, { type }]))
  const { values, positionals: words } = parse(name, args, types)
  const [least, most] = command.words
  const isFew = words.length < least && !values['help']
  if (isFew || words.length > most) throw misused(name, `geoswap ${name} ${command.usage}`)
  return { values, words }
}

type Types = Record<string, { type: 'string' | 'boolean' }>

function parse(name: string, args: string[], options: Types) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    throw misused(name, error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error))
  }
}

function misused(name: string, what: string): CliError {
  return new CliError('USAGE', what, { advice: `geoswap ${name} --help explains it.` })
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

/** Pads each column to its widest cell, except the last. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
