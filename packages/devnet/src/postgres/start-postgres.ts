import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { findFreePort } from '../ports.ts'
import { type Supervised, supervise } from '../supervise.ts'
import { type Binaries, prepareBinaries, reachableBinaries } from './binaries.ts'
import { chooseServerUser, createServerDir, type ServerUser } from './server-user.ts'

const START_ATTEMPTS = 3
const START_TIMEOUT_MS = 120_000

// Durable as in production: a commit survives a kill of the server.
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  fsync: 'on',
  synchronous_commit: 'on',
  timezone: 'UTC',
  // After a crash every file is synced before recovery: one by one takes seconds, one call does not.
  ...(process.platform === 'linux' && { recovery_init_sync_method: 'syncfs' }),
  // No helper processes named "worker", since a role of the network has that name.
  io_method: 'sync',
  max_parallel_workers_per_gather: '0',
}

export type PostgresOptions = {
  /** Preferred folder of the data. It is emptied first, and removed by `stop`. */
  dir: string
  logFile?: string
  onDown?(reason: string): void
}
export type Postgres = { url: string; pids(): number[]; stop(): Promise<void> }

type Cluster = { dir: string; user: ServerUser; binaries: Binaries; password: string; logFile: string }

/** Starts an empty database server, and restarts it with its data if it dies. */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const cluster = await createCluster(options)
  const { server, port } = await superviseServer(cluster, options)
  const url = urlOf(cluster, { port, database: 'geoswap' })
  await createDatabase(urlOf(cluster, { port, database: 'postgres' }))
  return {
    url,
    pids: server.pids,
    async stop() {
      await server.stop()
      rmSync(cluster.dir, { recursive: true, force: true })
    },
  }
}

async function createCluster(options: PostgresOptions): Promise<Cluster> {
  const user = chooseServerUser()
  const dir = createServerDir(options.dir, user)
  const binaries = reachableBinaries(prepareBinaries(), { user, dir })
  const password = randomBytes(24).toString('hex')
  const passwordFile = join(dir, 'password')
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (user) chownSync(passwordFile, user.uid, user.gid)

  const flags = ['--username=geoswap', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--encoding=UTF8']
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  // Skips only initdb's own sync, when nothing has been committed yet.
  const quick = ['--no-sync', '--no-instructions']
  await run(binaries.initdb, [`--pgdata=${join(dir, 'data')}`, ...flags, ...locale, ...quick], user)
  rmSync(passwordFile)
  return { dir, user, binaries, password, logFile: options.logFile ?? '/dev/null' }
}

async function superviseServer(cluster: Cluster, options: PostgresOptions) {
  let failure: unknown
  // Another process may take the port between the check and the server's start.
  for (let attempt = 0; attempt < START_ATTEMPTS; attempt += 1) {
    const port = await findFreePort()
    try {
      return { port, server: await superviseOn(port, cluster, options) }
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

function superviseOn(port: number, cluster: Cluster, options: PostgresOptions): Promise<Supervised> {
  return supervise({
    name: 'postgres',
    logFile: cluster.logFile,
    launch: () => launchServer(cluster, port),
    waitUntilReady: () => waitUntilConnectable(urlOf(cluster, { port, database: 'postgres' })),
    onDown: (reason) => options.onDown?.(reason),
    restart: true,
    // "Fast shutdown": open sessions are ended, not waited for.
    stopSignal: 'SIGINT',
    stopGraceMs: 5_000,
  })
}

function launchServer(cluster: Cluster, port: number): ChildProcess {
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const log = openSync(cluster.logFile, 'a')
  const server = spawn(
    cluster.binaries.postgres,
    ['-D', join(cluster.dir, 'data'), '-p', String(port), ...settings],
    { ...cluster.user, env: { LC_ALL: 'C' }, stdio: ['ignore', log, log], detached: true },
  )
  closeSync(log)
  endWithUs(server, cluster.dir)
  return server
}

// Waits for the end of a pipe that only this process holds open, then shuts the server down and removes its
// data. The server removes its pid file when it has stopped; the shell waits for that at most five seconds.
const WATCH = `read -r _
kill -INT "$1"
tries=0
while [ -e "$2/data/postmaster.pid" ] && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
rm -rf "$2"`

// PostgreSQL does not notice that its parent died, so a shell watches for it. The shell is ended first when
// the server is.
export function endWithUs(server: ChildProcess, dir: string): void {
  const watcher = spawn('/bin/sh', ['-c', WATCH, 'watch', String(server.pid), dir], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: '/usr/bin:/bin' },
    detached: true,
  })
  watcher.on('error', () => {})
  server.once('exit', () => watcher.kill('SIGKILL'))
}

async function waitUntilConnectable(url: string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS
  while (!(await isConnectable(url))) {
    if (Date.now() > deadline) throw new Error('PostgreSQL does not accept connections')
    await delay(30)
  }
}

async function isConnectable(url: string): Promise<boolean> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

export async function createDatabase(adminUrl: string): Promise<void> {
  const client = new pg.Client(adminUrl)
  await client.connect()
  await client.query('create database geoswap')
  await client.end()
}

function urlOf(cluster: Cluster, at: { port: number; database: string }): string {
  return `postgres://geoswap:${cluster.password}@127.0.0.1:${at.port}/${at.database}`
}

export function run(file: string, args: readonly string[], user: ServerUser): Promise<void> {
  const child = spawn(file, args, { ...user, env: { LC_ALL: 'C' }, stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) return resolve()
      reject(new Error(`${file} failed with exit code ${code}: ${output.trim()}`))
    })
  })
}
