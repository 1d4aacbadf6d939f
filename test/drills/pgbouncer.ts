import { type ChildProcess, spawn } from 'node:child_process'
import {
  chownSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Network } from '@geoswap/devnet'
import pg from 'pg'
import { projectRoot } from '../../packages/devnet/src/node-child.ts'
import { findFreePort } from '../../packages/devnet/src/ports.ts'
import { chooseServerUser, createServerDir } from '../../packages/devnet/src/postgres/server-user.ts'
import { ROLES, type Role, type Secrets } from './processes.ts'
import { Failed } from './report.ts'

const PGBOUNCER = '/usr/sbin/pgbouncer'
const START_MS = 20_000
const LOOK_MS = 50

export type Pooler = Awaited<ReturnType<typeof openPooler>>

/** PgBouncer of the system with deploy/pgbouncer/pgbouncer.ini, before the database of this network. */
export async function openPooler({ databaseUrls }: Pick<Network, 'databaseUrls'>) {
  if (!existsSync(PGBOUNCER))
    throw new Failed('this drill needs PgBouncer of Debian, which `apt-get install -y pgbouncer` installs')
  const user = chooseServerUser()
  const dir = createServerDir(mkdtempSync(join(tmpdir(), 'geoswap-pooler-')), user)
  const port = await findFreePort()
  const log = join(dir, 'pgbouncer.log')
  const urls = ROLES.map((role) => new URL(databaseUrls[role]))
  const logins = urls.map(({ username, password }) => `"${username}" "${password}"\n`)
  const write = (name: string, text: string) => {
    const file = join(dir, name)
    writeFileSync(file, text, { mode: 0o600 })
    if (user) chownSync(file, user.uid, user.gid)
    return file
  }
  const userlist = write('userlist.txt', logins.join(''))
  const template = readFileSync(join(projectRoot, 'deploy/pgbouncer/pgbouncer.ini'), 'utf8')
  const ini = write(
    'pgbouncer.ini',
    template
      .replace('port=5432', `port=${urls[0]?.port}`)
      .replace('6432', String(port))
      .replace('/etc/pgbouncer/userlist.txt', userlist),
  )
  const throughOf = (url: string) => Object.assign(new URL(url), { port: String(port) }).href
  let server: ChildProcess | undefined

  async function start(): Promise<void> {
    const out = openSync(log, 'a')
    const child = spawn(PGBOUNCER, [ini], { ...user, env: {}, stdio: ['ignore', out, out] })
    closeSync(out)
    server = child
    const end = Date.now() + START_MS
    const through = throughOf(databaseUrls.api)
    while (!(await answers(through))) {
      if (child.exitCode !== null || Date.now() > end) throw new Failed(`PgBouncer did not start: see ${log}`)
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

  await start()
  return {
    start,
    kill: () => end('SIGKILL'),
    async stop(): Promise<void> {
      await end('SIGTERM')
      rmSync(dir, { recursive: true, force: true })
    },
    /** These secrets, with the variables of a process behind the pooler. */
    withUrls(secrets: Secrets): Secrets {
      const behind = (role: Role) => ({
        ...secrets[role],
        DATABASE_URL: throughOf(databaseUrls[role]),
        DATABASE_DIRECT_URL: databaseUrls[role],
      })
      return { api: behind('api'), worker: behind('worker'), attester: behind('attester') }
    },
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
