import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Every child runs in this folder, so that its command line stays short. */
export const projectRoot = fileURLToPath(new URL('../../..', import.meta.url))

/** The flags of node for a process that ends with its parent. */
export const NODE_FLAGS = ['--import', './packages/devnet/src/exit-with-parent.mjs']

export type Environment = Readonly<Record<string, string>>

type NodeChild = {
  /** Path of the file, relative to the project's root. */
  file: string
  args: readonly string[]
  env: Environment
  logFile: string
}

/**
 * Starts a file in its own process and process group. Ctrl-C in a terminal then reaches only the supervisor,
 * which stops everything in order.
 */
export function spawnNode(options: NodeChild): ChildProcess {
  const log = openSync(options.logFile, 'a')
  const child = spawn(process.execPath, [...NODE_FLAGS, options.file, ...options.args], {
    cwd: projectRoot,
    env: { ...options.env },
    stdio: ['ignore', log, log, 'ipc'],
    detached: true,
  })
  closeSync(log)
  return child
}

/** The next message of a child that `parse` accepts. Never settles if the child ends first. */
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

/** Reads the message that a child sends once it listens. */
export function listeningPort(message: unknown): number | undefined {
  if (typeof message !== 'object' || message === null || !('listening' in message)) return undefined
  return typeof message.listening === 'number' ? message.listening : undefined
}

/** Reports this child's port to the supervisor. Does nothing in a process started by hand. */
export function reportListening(port: number): void {
  process.send?.({ listening: port })
}

const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ']
// Node's internal variables between a parent and its child, which a grandchild must not inherit.
const NOT_PASSED_ON = ['NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE', 'NODE_UNIQUE_ID']

/** The environment variables that every child may see. Others are passed explicitly. */
export function baseEnvironment(env: Readonly<Record<string, string | undefined>>): Environment {
  const entries = Object.entries(env).flatMap(([name, value]) => {
    const passes = PASSED_ON.includes(name) || (/^(NODE|OTEL)_/.test(name) && !NOT_PASSED_ON.includes(name))
    return passes && value !== undefined ? [[name, value] as const] : []
  })
  return Object.fromEntries(entries)
}
