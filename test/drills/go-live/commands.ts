import { type ChildProcess, spawn } from 'node:child_process'
import { projectRoot } from '../../../packages/devnet/src/node-child.ts'
import { Failed, type Report } from '../report.ts'

/** The commands that a newcomer types, one after the other, each with its time. */
export type Terminal = {
  /** Runs a command to its end, and shows what it says, whether all is well or not. */
  show(command: string): Promise<void>
  /** Runs a command that must succeed, and returns what it printed. */
  type(command: string, env?: Record<string, string>): Promise<string>
  /** Sources a file: its variables are those of all later commands. */
  source(file: string): void
  /** Starts a command that stays, until it prints this. */
  leave(command: string, isReady: RegExp): Promise<void>
  count(): number
  stop(): Promise<void>
}

const STOP_MS = 20_000

/** A terminal with these variables. */
export function openTerminal(
  { does, sees }: Pick<Report, 'does' | 'sees'>,
  env: Record<string, string>,
): Terminal {
  let typed = 0
  let before = ''
  const left: ChildProcess[] = []

  const start = (command: string, more: Record<string, string> = {}) => {
    typed += 1
    does(`$ ${command}`)
    return spawn('sh', ['-c', `${before}exec ${command}`], {
      cwd: projectRoot,
      env: { ...env, ...more },
      detached: true,
    })
  }

  async function run(command: string, more?: Record<string, string>) {
    const begun = performance.now()
    const child = start(command, more)
    const text = collect(child)
    const code = await new Promise<number>((resolve) => child.once('close', (end) => resolve(end ?? 1)))
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1)
    sees(`${text().trim()}\n(command ${typed}, ${seconds} s)`)
    return { code, text: text() }
  }

  return {
    show: async (command) => void (await run(command)),
    async type(command, more) {
      const { code, text } = await run(command, more)
      if (code !== 0) throw new Failed(`the command ended with ${code}`)
      return text
    },
    source(file) {
      typed += 1
      does(`$ . ${file}`)
      before = `. ${file}; `
    },
    async leave(command, isReady) {
      const child = start(command)
      left.push(child)
      const text = collect(child)
      await new Promise<void>((resolve, reject) => {
        const look = () => isReady.test(text()) && resolve()
        child.stdout?.on('data', look)
        child.once('close', (code) => reject(new Failed(`the command ended with ${code}:\n${text()}`)))
      })
    },
    count: () => typed,
    async stop() {
      await Promise.all(left.map(end))
    },
  }
}

function collect(child: ChildProcess): () => string {
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
  return () => text
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  // The shell's group: npm and what it started, which stops its own children.
  const tell = (signal: NodeJS.Signals) => child.pid !== undefined && process.kill(-child.pid, signal)
  tell('SIGTERM')
  const timer = setTimeout(() => tell('SIGKILL'), STOP_MS)
  await ended
  clearTimeout(timer)
}
