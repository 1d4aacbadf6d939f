import { type ChildProcess, spawn } from 'node:child_process'
import { projectRoot } from '../../../packages/devnet/src/node-child.ts'
import { Failed, type Report } from '../report.ts'

const STOP_MS = 20_000

/** Each command in a shell of its own, with these variables, shown with what it says and its time. */
export function openTerminal({ does, sees }: Pick<Report, 'does' | 'sees'>, env: Record<string, string>) {
  const left: ChildProcess[] = []
  const start = (command: string, more: Record<string, string> = {}) => {
    does(`$ ${command}`)
    return spawn('sh', ['-c', command], { cwd: projectRoot, env: { ...env, ...more }, detached: true })
  }
  return {
    /** Runs a command that must succeed, and returns what it printed. */
    async type(command: string, more?: Record<string, string>): Promise<string> {
      const begun = performance.now()
      const child = start(command, more)
      const text = collect(child)
      const code = await new Promise<number>((resolve) => child.once('close', (end) => resolve(end ?? 1)))
      sees(`${text().trim()}\n(${((performance.now() - begun) / 1_000).toFixed(1)} s)`)
      if (code !== 0) throw new Failed(`the command ended with ${code}`)
      return text()
    },
    /** Starts a command that stays, until it prints this. */
    async leave(command: string, isReady: RegExp): Promise<void> {
      const child = start(command)
      left.push(child)
      const text = collect(child)
      await new Promise<void>((resolve, reject) => {
        const look = () => isReady.test(text()) && resolve()
        child.stdout.on('data', look)
        child.once('close', (code) => reject(new Failed(`the command ended with ${code}:\n${text()}`)))
      })
    },
    async stop(): Promise<void> {
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
