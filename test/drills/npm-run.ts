import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Network } from '@geoswap/devnet'
import { projectRoot } from '../../packages/devnet/src/node-child.ts'

/**
 * The environment that selects the service, for its processes and for commands: no secret but the database's
 * URL.
 */
export function operatorEnv({ home, databaseUrls }: Network) {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME, DATABASE_URL: databaseUrls.operator, GEOSWAP_CONFIG: join(home, 'service.json') }
}

// Commands that change the tables or all their rows.
const OWNERS = ['migrate', 'rebuild']

type Typed = {
  script: string
  args: readonly string[]
  env?: Record<string, string>
  /** Gets what it says to people, at once. */
  onText?(text: string): void
}

/** `npm run -s SCRIPT -- ARGS`, as an operator types it: its exit code and its output. */
export async function npmRun(
  network: Network,
  { script, args, env = {}, onText = () => {} }: Typed,
): Promise<{ code: number; text: string }> {
  const isOwners = OWNERS.includes(args[0] ?? '')
  const owner = isOwners && { DATABASE_URL: network.databaseUrl }
  const options = { cwd: projectRoot, env: { ...operatorEnv(network), USER: 'operator', ...owner, ...env } }
  const running = promisify(execFile)('npm', ['run', '-s', script, '--', ...args], options)
  running.child.stderr?.on('data', onText)
  return running.then(
    ({ stdout, stderr }) => ({ code: 0, text: `${stdout}${stderr}`.trim() }),
    ({ code, stdout = '', stderr = '' }) => ({ code: Number(code), text: `${stdout}${stderr}`.trim() }),
  )
}
