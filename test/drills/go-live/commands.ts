import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../../packages/devnet/src/node-child.ts'
import { Failed, type Report } from '../report.ts'

/** The shell in which a newcomer types, one command after the other. Each is shown with its time. */
export type Terminal = {
  /** Runs a command to its end, and shows what it says, whether all is well or not. */
  show(command: string): Promise<void>
  /** Runs a command that must succeed, or stay in the background, and returns what it printed. */
  type(command: string): Promise<string>
  stop(): Promise<void>
}

const STOP_MS = 20_000
const MANUAL = 'docs/going-live.md'

/** The commands of the manual's first block, from a clone with its packages to the first swap. */
export function commandsOfManual(): string[] {
  const text = readFileSync(join(projectRoot, MANUAL), 'utf8')
  const [, block = ''] = /^```\n(.*?)^```$/ms.exec(text) ?? []
  const lines = block.replaceAll('\\\n', ' ').trim().split('\n')
  return lines.map((line) => line.replace(/\s+#\s.*$/, '').replace(/\s+/g, ' '))
}

/** A terminal with these variables. */
export function openTerminal(
  { does, sees }: Pick<Report, 'does' | 'sees'>,
  env: Record<string, string>,
): Terminal {
  const shell = spawn('sh', { cwd: projectRoot, env, detached: true })
  let text = ''
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
  let typed = 0
  const closed = new Promise<never>((_, reject) =>
    shell.once('close', () => reject(new Failed(`the shell ended:\n${text}`))),
  )
  // The command that waits reports it.
  closed.catch(() => {})

  /** The exit code that follows these words. */
  function readCode(end: string): Promise<number> {
    return new Promise((resolve) => {
      const look = () => {
        const [, code] = new RegExp(`${end}(\\d+)\\n`).exec(text) ?? []
        if (code === undefined) return
        shell.stdout.off('data', look)
        resolve(Number(code))
      }
      shell.stdout.on('data', look)
    })
  }

  async function run(command: string) {
    typed += 1
    const end = `end of command ${typed} with `
    does(`$ ${command}`)
    const begun = performance.now()
    text = ''
    shell.stdin.write(`${command}\necho "${end}$?"\n`)
    const code = await Promise.race([readCode(end), closed])
    const said = text.replace(new RegExp(`${end}.*`), '').trim()
    sees(`${said}\n(${((performance.now() - begun) / 1_000).toFixed(1)} s)`)
    return { code, said }
  }

  return {
    show: async (command) => void (await run(command)),
    async type(command) {
      const { code, said } = await run(command)
      if (code !== 0) throw new Failed(`the command ended with ${code}`)
      return said
    },
    async stop() {
      if (shell.exitCode !== null || shell.signalCode !== null) return
      const ended = new Promise<void>((resolve) => shell.once('close', () => resolve()))
      // The shell's group: npm and what it started, which stops its own children.
      const tell = (signal: NodeJS.Signals) => shell.pid !== undefined && process.kill(-shell.pid, signal)
      tell('SIGTERM')
      const timer = setTimeout(() => tell('SIGKILL'), STOP_MS)
      await ended
      clearTimeout(timer)
    },
  }
}
