import { readFileSync } from 'node:fs'
import { type Context, createInterrupts, type Interrupts, type Surroundings } from '@geoswap/wallet/context'
import { resumeWith, timeOf, UserError } from '@geoswap/wallet/errors'
import { createTerminal, type Streams, type Terminal } from '@geoswap/wallet/terminal'
import { type AnyCommand, columns, didYouMean, type ExitCode, helpOf, parseCommand } from './command.ts'
import { commands } from './commands/all.ts'

/** The version of the package that this file is in: the manifest is a folder above, also in a built package. */
export function readVersion(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
}

type World = Surroundings & { streams: Streams; onSignal(listener: () => void): void }

/** Runs one command and returns its exit code. */
export async function run(line: readonly string[], world: World): Promise<ExitCode> {
  const [name, ...rest] = line
  const terminal = createTerminal(world.streams, { json: line.includes('--json') })
  if (['--version', '-v', 'version'].includes(name ?? '') || rest.join() === '--version') {
    const version = readVersion()
    terminal.result([`geoswap ${version}`], { version })
    return 0
  }
  const isHelp = name === undefined || ['--help', '-h', 'help'].includes(name)
  const topic = rest.find((word) => !word.startsWith('--'))
  if (isHelp && topic === undefined) {
    terminal.result(overview(), { commands: Object.keys(commands) })
    return 0
  }
  const interrupts = createInterrupts(terminal.note)
  world.onSignal(interrupts.press)
  try {
    const [called = '', args] = isHelp ? [topic, ['--help']] : [name, rest]
    return await runCommand({ terminal, interrupts }, world, called, args)
  } finally {
    terminal.stop()
  }
}

type Io = { terminal: Terminal; interrupts: Interrupts }

async function runCommand(io: Io, world: World, name: string, args: string[]): Promise<ExitCode> {
  let context: Context | undefined
  try {
    const command = await getCommand(name)
    const { values, words } = parseCommand(name, command, args)
    if (values['help']) {
      io.terminal.result(helpOf(name, command), { help: helpOf(name, command).join('\n') })
      return 0
    }
    const { createContext } = await import('@geoswap/wallet/context')
    const url = values['url'] as string | undefined
    const isInsecure = values['insecure'] === true
    const given = { ...world.given, isInsecure, url: url ?? world.given.url }
    context = createContext(io, { ...world, given })
    return await orInterrupted(command.run(context, { values: values as never, words }), io.interrupts.signal)
  } catch (error) {
    return fail(io.terminal, error, context)
  }
}

async function getCommand(name: string): Promise<AnyCommand> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command) return command.load()
  const message = `There is no command ${name}.${didYouMean(name, Object.keys(commands))}`
  throw new UserError('USAGE', message, { advice: 'geoswap --help lists them.' })
}

// Work that reacts to the signal reports more; other work is abandoned after this time.
const REACTION_MS = 1_000

async function orInterrupted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => {
      timer = setTimeout(() => reject(signal.reason), REACTION_MS)
    })
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

const NOTHING_KNOWN = { url: undefined, isLocal: false, clockAheadMs: undefined, order: undefined }

async function fail(terminal: Terminal, error: unknown, context: Context | undefined): Promise<ExitCode> {
  const { explain, isFromService, knownOf } = await import('@geoswap/wallet/explain')
  const { quoteService } = await import('@geoswap/wallet/plain')
  const known = () => (context ? knownOf(context) : NOTHING_KNOWN)
  const told = explain(error, known) ?? {
    code: 'INTERNAL',
    message: error instanceof Error ? error.message : String(error),
    advice: 'This is a bug in geoswap: please report it with the command you ran.',
  }
  const left = context && leftBehind(context.seen)
  const advice = [told.advice, left?.advice].filter((each) => each !== undefined)
  const { code, message, details } = told
  const said = isFromService(error) ? quoteService(message) : message
  terminal.failure([`error: ${said}`, ...advice], {
    error: { code, message, advice: advice.join(' ') || undefined, ...details, ...left?.ids },
  })
  return code === 'INTERRUPTED' ? 130 : 1
}

type Left = { advice: string; ids: Record<string, string> }

/** The swap or submission that an error or interruption leaves behind, and how to continue it. */
function leftBehind({ attempt, swapId }: Context['seen']): Left | undefined {
  if (attempt?.stage === 'submitted') return goingOn(attempt.swapId)
  if (attempt?.stage === 'submitting') {
    const { id } = attempt
    const advice = `It is unknown whether it was submitted. ${resumeWith(id)} finds out; do not start a new swap.`
    return { advice, ids: { attempt: id } }
  }
  if (attempt && attempt.stage !== 'ended') return { advice: 'Nothing was submitted.', ids: {} }
  if (attempt?.outcome === 'notSubmitted' && attempt.lockableUntil !== undefined) {
    const until = timeOf(attempt.lockableUntil)
    const advice = `The service can use the signature until ${until}. The same swap is not signed again before then.`
    return { advice, ids: { attempt: attempt.id } }
  }
  if (attempt?.outcome === 'notSubmitted') return { advice: 'Nothing was submitted.', ids: {} }
  return attempt || swapId === undefined ? undefined : goingOn(swapId)
}

function goingOn(swapId: string): Left {
  return { advice: `The swap ${swapId} continues: ${resumeWith(swapId)}`, ids: { swapId } }
}

function overview(): string[] {
  const rows = Object.entries(commands).map(([name, { about }]) => [`  ${name}`, about])
  return [
    'geoswap COMMAND …',
    '',
    'Swaps tokens across chains for wallets that hold no gas coin.',
    '',
    ...columns(rows),
    '',
    'geoswap help COMMAND explains a command; geoswap --version is the version.',
    'With npm start running, this is all it takes:',
    '  geoswap swap alpha:USDC beta:USDC --amount 10',
  ]
}
