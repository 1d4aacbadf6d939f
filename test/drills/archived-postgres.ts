import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Postgres } from '@geoswap/devnet'
import pg from 'pg'
import { projectRoot } from '../../packages/devnet/src/node-child.ts'
import { findFreePort } from '../../packages/devnet/src/ports.ts'
import { chooseServerUser, createServerDir } from '../../packages/devnet/src/postgres/server-user.ts'
import { createDatabase, endWithUs, run } from '../../packages/devnet/src/postgres/start-postgres.ts'
import { Failed } from './report.ts'

const PGBACKREST = '/usr/bin/pgbackrest'
const SERVERS = '/usr/lib/postgresql'
const START_MS = 120_000
const LOOK_MS = 50

// Only what differs between a machine and a temporary folder. The rest is deploy/postgres/archive.conf.
const settingsOf = (dir: string) => ({
  ...{ listen_addresses: '127.0.0.1', unix_socket_directories: dir, max_connections: '200', timezone: 'UTC' },
})

export type ArchivedPostgres = Awaited<ReturnType<typeof openArchivedPostgres>>

/** A server of the system with the files of deploy/postgres: it archives to a repository in its folder. */
export async function openArchivedPostgres() {
  const bin = findServer()
  const user = chooseServerUser()
  const dir = createServerDir(mkdtempSync(join(tmpdir(), 'geoswap-archive-')), user)
  const data = join(dir, 'data')
  const port = await findFreePort()
  const password = randomBytes(24).toString('hex')
  const log = join(dir, 'postgres.log')
  const urlOf = (database: string) => `postgres://geoswap:${password}@127.0.0.1:${port}/${database}`
  for (const folder of ['repository', 'log', 'lock']) makeFolder(join(dir, folder))
  for (const file of ['archive.conf', 'pgbackrest.conf'])
    copyFileSync(join(projectRoot, 'deploy/postgres', file), join(dir, file))
  // Variables of pgBackRest win over its file: the places of this folder.
  const env = {
    ...{ PATH: '/usr/bin:/bin', LC_ALL: 'C', PGBACKREST_CONFIG: join(dir, 'pgbackrest.conf') },
    ...{ PGBACKREST_REPO1_PATH: join(dir, 'repository'), PGBACKREST_PG1_PATH: data },
    ...{ PGBACKREST_LOG_PATH: join(dir, 'log'), PGBACKREST_LOCK_PATH: join(dir, 'lock') },
    ...{ PGBACKREST_PG1_PORT: String(port), PGBACKREST_PG1_SOCKET_PATH: dir, PGBACKREST_PG1_USER: 'geoswap' },
  }
  let server: ReturnType<typeof launch> | undefined

  function makeFolder(path: string): void {
    mkdirSync(path, { mode: 0o700 })
    if (user) chownSync(path, user.uid, user.gid)
  }

  function launch() {
    const settings = Object.entries(settingsOf(dir)).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const out = openSync(log, 'a')
    const args = ['-D', data, '-p', String(port), ...settings]
    const child = spawn(join(bin, 'postgres'), args, {
      ...{ ...user, env, stdio: ['ignore', out, out], detached: true },
    })
    closeSync(out)
    endWithUs(child, dir)
    return child
  }

  /** Settles when it accepts writes: a restored server first replays its archive. */
  async function launchReady(): Promise<void> {
    server = launch()
    const end = Date.now() + START_MS
    while (!(await acceptsWrites(urlOf('postgres')))) {
      if (server.exitCode !== null || Date.now() > end)
        throw new Failed(`PostgreSQL did not start: see ${log}`)
      await delay(LOOK_MS)
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const child = server
    server = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await ended
  }

  async function stop(): Promise<void> {
    await end('SIGINT')
    rmSync(dir, { recursive: true, force: true })
  }

  const tell = (...args: string[]) =>
    promisify(execFile)(PGBACKREST, ['--stanza=geoswap', ...args], { ...user, env })

  return {
    stop,
    versions: async () => {
      const { stdout } = await promisify(execFile)(join(bin, 'postgres'), ['--version'])
      const { stdout: own } = await promisify(execFile)(PGBACKREST, ['version'])
      return `${stdout.trim()}, ${own.trim()}`
    },
    /** In place of the installed server of a network. */
    async start(): Promise<Postgres> {
      const passwordFile = join(dir, 'password')
      writeFileSync(passwordFile, password, { mode: 0o600 })
      if (user) chownSync(passwordFile, user.uid, user.gid)
      const access = [
        '--username=geoswap',
        `--pwfile=${passwordFile}`,
        '--auth-host=scram-sha-256',
        '--auth-local=trust',
      ]
      const flags = ['--encoding=UTF8', '--locale=C.UTF-8', '--no-sync', '--no-instructions']
      await run(join(bin, 'initdb'), [`--pgdata=${data}`, ...access, ...flags], user)
      rmSync(passwordFile)
      appendFileSync(join(data, 'postgresql.conf'), `include '${join(dir, 'archive.conf')}'\n`)
      await launchReady()
      await createDatabase(urlOf('postgres'))
      return {
        url: urlOf('geoswap'),
        pids: () => (server?.pid === undefined ? [] : [server.pid]),
        stop,
      }
    },
    async backUp(type: 'full' | 'diff'): Promise<void> {
      await tell('stanza-create')
      await tell('check')
      await tell(`--type=${type}`, 'backup')
    },
    /** The machine is gone with its disk: the server, its data and the log that was not archived yet. */
    async lose(): Promise<void> {
      await end('SIGKILL')
      rmSync(data, { recursive: true })
    },
    /** Up to the last segment that was archived. */
    async restore(): Promise<void> {
      makeFolder(data)
      await tell('restore')
      await launchReady()
    },
  }
}

function findServer(): string {
  const found = existsSync(SERVERS) ? readdirSync(SERVERS).filter((name) => /^\d+$/.test(name)) : []
  const newest = Math.max(...found.map(Number))
  if (found.length > 0 && existsSync(PGBACKREST)) return join(SERVERS, String(newest), 'bin')
  throw new Failed(
    'this drill needs PostgreSQL and pgBackRest of Debian, which `apt-get install -y postgresql pgbackrest` installs',
  )
}

async function acceptsWrites(url: string): Promise<boolean> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ waits: boolean }>('select pg_is_in_recovery() as waits')
    return rows[0]?.waits === false
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
