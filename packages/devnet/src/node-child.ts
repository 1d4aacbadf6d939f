import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Every child runs here, so that its command line stays short enough to read. */
export const projectRoot = fileURLToPath(new URL('../../..', import.meta.url))

// Where node reads TypeScript by itself a loader would only cost time: about a second of it per process.
const readsTypeScript = 'typescript' in process.features && Boolean(process.features.typescript)
const loader = readsTypeScript ? [] : ['--import', 'tsx']

/** What node itself needs to run a file that ends with its parent. */
export function nodeFlagsFor(file: string): string[] {
  const ending = ['--import', './packages/devnet/src/exit-with-parent.mjs']
  return file.endsWith('.ts') ? [...loader, ...ending] : ending
}

export type Environment = Readonly<Record<string, string>>

export type NodeChild = {
  /** Path of a file, from the project's root. */
  file: string
  args: readonly string[]
  env: Environment
  logFile: string
}

/**
 * Starts a file in a process of its own. It leads its own process group, so that Ctrl-C in a
 * terminal reaches the supervisor alone, which then stops everything in order.
 */
export function spawnNode(options: NodeChild): ChildProcess {
  const log = openSync(options.logFile, 'a')
  const child = spawn(process.execPath, [...nodeFlagsFor(options.file), options.file, ...options.args], {
    cwd: projectRoot,
    env: { ...options.env },
    stdio: ['ignore', log, log, 'ipc'],
    detached: true,
  })
  closeSync(log)
  return child
}

/** The next message of a child that satisfies `parse`. Never settles when the child ends first. */
export function nextMessage<T>(child: ChildProcess, parse: (message: unknown) => T | undefined): Promise<T> {
  return new Promise((resolve) => {
    const onMessage = (message: unknown) => {
      const parsed = parse(message)
      if (parsed === undefined) return
      child.off('message', onMessage)
      resolve(parsed)
    }
    child.on('message', onMessage)
  })
}

/** What a child that listens says once it does. */
export function listeningPort(message: unknown): number | undefined {
  if (typeof message !== 'object' || message === null || !('listening' in message)) return undefined
  return typeof message.listening === 'number' ? message.listening : undefined
}

/** Tells the supervisor which port this child listens on. Does nothing in a process started by hand. */
export function reportListening(port: number): void {
  process.send?.({ listening: port })
}

const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ']
// Node's own bookkeeping between a parent and its child: of no use to a grandchild.
const NOT_PASSED_ON = ['NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE', 'NODE_UNIQUE_ID']

/** The part of an environment that every child may see. Anything else it needs is given to it by name. */
export function baseEnvironment(env: Readonly<Record<string, string | undefined>>): Environment {
  const entries = Object.entries(env).flatMap(([name, value]) => {
    const passes = PASSED_ON.includes(name) || (/^(NODE|OTEL)_/.test(name) && !NOT_PASSED_ON.includes(name))
    return passes && value !== undefined ? [[name, value] as const] : []
  })
  return Object.fromEntries(entries)
}
