import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buildProgram } from '../scripts/pack/program.ts'
import type { LocalNetwork } from './world.ts'

type Environment = Readonly<Record<string, string>>

export const PASSPHRASE = 'correct horse battery staple'

/** The environment of a command with its own home, beside a running network. */
export function createCliHome(local: LocalNetwork) {
  const folder = mkdtempSync(join(tmpdir(), 'geoswap-cli-'))
  const network = join(folder, 'network')
  mkdirSync(network)
  writeFileSync(join(network, 'local.json'), JSON.stringify(local))
  const home = join(folder, 'home')
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, GEOSWAP_HOME: network, GEOSWAP_CLI_HOME: home, GEOSWAP_PASSPHRASE: PASSPHRASE }
  return { env, home, folder, remove: () => rmSync(folder, { recursive: true }) }
}

/** The real command as it is published, which starts in a fifth of the time of its sources. */
export async function createCli(local: LocalNetwork) {
  const { folder, ...paths } = createCliHome(local)
  const program = join(folder, 'program', 'geoswap.js')
  await buildProgram('packages/cli/src/geoswap.ts', dirname(program))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')

  function start(args: readonly string[], extra: Environment = {}): Running {
    return toRunning(spawn(process.execPath, [program, ...args], { env: { ...paths.env, ...extra } }))
  }

  return {
    ...{ ...paths, program, start },
    run: (...args: string[]) => start(args).ended,
    /** The object on stdout, and the exit code. */
    async json(...args: string[]) {
      const { code, stdout, stderr } = await start([...args, '--json']).ended
      if (stderr !== '') throw new Error(`with --json nothing goes to stderr, but: ${stderr}`)
      return { code, reply: JSON.parse(stdout) }
    },
  }
}

type Ended = { code: number | null; stdout: string; stderr: string }
type Running = {
  child: ChildProcess
  ended: Promise<Ended>
  /** Resolves to the pattern's first group once it appears on stderr. */
  says(pattern: RegExp): Promise<string>
}

function toRunning(child: ChildProcess): Running {
  const out = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      out[name] += text
    })
  }
  child.stdin?.end()
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, ...out })))
  return {
    child,
    ended,
    says(pattern) {
      return new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(out.stderr)
          if (found) resolve(found[1] ?? '')
        }
        child.stderr?.on('data', look)
        void ended.then(() => reject(new Error(`It ended without: ${pattern}\n${out.stderr}`)))
        look()
      })
    },
  }
}
