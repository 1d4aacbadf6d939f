import { readFileSync, statSync } from 'node:fs'

type Cause = { shows: RegExp; nextStep: string }

// The usual causes, and how the user repairs them. Another start repairs most others, as a port that was taken since.
const CAUSES: readonly Cause[] = [
  {
    shows: /EADDRINUSE|address already in use|could not bind/i,
    nextStep: 'Stop the program that uses the port, or start again to get another.',
  },
  { shows: /ENOSPC|no space left/i, nextStep: 'Free space on the disk, then start again.' },
  {
    shows: /EACCES|EPERM|EROFS|permission denied|operation not permitted|read-only file system/i,
    nextStep: 'Give this user access to it, or start in another folder: GEOSWAP_HOME=<folder> npm start.',
  },
  {
    shows: /ENOTDIR|EEXIST|EISDIR/,
    nextStep: 'Start in another folder: GEOSWAP_HOME=<folder> npm start.',
  },
  {
    shows: /MODULE_NOT_FOUND|DLOPEN_FAILED|Cannot find (module|package)|Could not resolve|shared librar/i,
    nextStep: 'Run npm ci, then start again.',
  },
  {
    shows: /SIGKILL|out of memory|heap limit|cannot allocate memory|ENOMEM/i,
    nextStep: 'The machine may have too little memory: stop other programs, then start again.',
  },
]

const NAME = 'StartFailure'

/** The error of a part that did not start: its message is for the user, and says why and what to do next. */
export function startFailure(part: string, error: unknown, logFile?: string): Error {
  if (error instanceof Error && error.name === NAME) return error
  const reason = (error instanceof Error ? error.message : String(error)).trim().replace(/[.\s]+$/, '')
  const usual = CAUSES.find(({ shows }) => shows.test(reason))?.nextStep
  const nextStep = usual ?? 'Start again; if that fails too, report it with the log.'
  const log = logFile && sizeOfLog(logFile) > 0 ? ` The log is ${logFile}` : ''
  return refuseStart(`${part} did not start: ${reason}. ${nextStep}${log}`, error)
}

/** The same with a message of its own. */
export function refuseStart(message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { name: NAME })
}

/** The text that a process has added to its log since `from`. */
export function readLogSince(logFile: string, from: number): string {
  try {
    return readFileSync(logFile).subarray(from).toString('utf8')
  } catch {
    return ''
  }
}

export function sizeOfLog(logFile: string): number {
  return statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
}

// The lines of a crash that say nothing to a user: source excerpts, stack frames, properties of the error.
const NOISE = [/^\s/, /^node:/, /^file:\/\//, /^\S+:\d+$/, /^[{}\]]/, /^Node\.js v/, /^Emitted 'error'/]
const CRASH = /^(?:Uncaught )?\w*Error(?: \[\w+\])?: (.+)/
const FATAL_OF_POSTGRES = /\b(?:FATAL|PANIC): +(.+)/
const MOST_LINES = 3

/** The reason that a log gives for the end of its process: of Node.js, PostgreSQL, a logger, or in plain words. */
export function reasonIn(log: string): string | undefined {
  const lines = log.split('\n').filter((line) => line.trim() !== '')
  const crash = findLast(lines, (line) => (CRASH.exec(line) ?? FATAL_OF_POSTGRES.exec(line))?.[1])
  if (crash) return crash
  const plain = lines.filter((line) => !line.startsWith('{"') && !NOISE.some((noise) => noise.test(line)))
  if (plain.length > 0) return plain.slice(-MOST_LINES).join(' ')
  return findLast(lines, readLoggedError)
}

/** The message of a logger's line about an error. */
function readLoggedError(line: string): string | undefined {
  // The last line may be cut off.
  if (!/^\{"level":"(?:error|fatal)".*\}$/.test(line)) return undefined
  const { msg, err } = JSON.parse(line) as { msg?: string; err?: { message?: string } }
  return [msg, err?.message].filter((text) => text !== undefined).join(': ')
}

function findLast(lines: readonly string[], read: (line: string) => string | undefined): string | undefined {
  for (const line of [...lines].reverse()) {
    const found = read(line)
    if (found) return found
  }
  return undefined
}
