import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { refuseStart } from './start-failure.ts'

/** The folder of one network: its public files, the configuration of its service, and its logs. */
export type Home = {
  dir: string
  localFile: string
  serviceFile: string
  /**
   * Secrets for commands on this machine, readable by the owner only: the database URL, the seal keys, the
   * operator key and the keys that own the inventory.
   */
  secretsFile: string
  logFile(role: string): string
  /** The built page. */
  webDir: string
  /** The database's data folder, if the database's user can access it. */
  databaseDir: string
  release(): void
}

type Lock = { pid: number; startedAt: string }

/**
 * Locks the folder for this process and removes the files of an earlier network. Throws if a live network
 * uses it.
 */
export function lockHome(path: string): Home {
  mkdirSync(path, { recursive: true, mode: 0o755 })
  const dir = realpathSync(path)
  const lockFile = join(dir, 'network.lock')
  takeLock(lockFile, dir)

  const localFile = join(dir, 'local.json')
  const serviceFile = join(dir, 'service.json')
  const secretsFile = join(dir, 'secrets.json')
  const logs = join(dir, 'logs')
  const databaseDir = join(dir, 'postgres')
  const webDir = join(dir, 'web')
  const envFile = join(dir, 'service.env')
  // The processes of a network that was just killed may still write.
  for (const old of [localFile, serviceFile, secretsFile, envFile, logs, databaseDir, webDir])
    rmSync(old, { recursive: true, force: true, maxRetries: 5 })
  mkdirSync(logs, { recursive: true })

  return {
    dir,
    localFile,
    serviceFile,
    secretsFile,
    databaseDir,
    webDir,
    logFile: (role) => join(logs, `${role}.log`),
    release() {
      rmSync(localFile, { force: true })
      rmSync(secretsFile, { force: true })
      rmSync(lockFile, { force: true })
    },
  }
}

/** Writes the file atomically: a reader never sees half of it. */
export function writeJsonAtomically(path: string, value: unknown, mode = 0o644): void {
  const draft = `${path}.${process.pid}.tmp`
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode })
  renameSync(draft, path)
}

function takeLock(lockFile: string, dir: string): void {
  const lock: Lock = { pid: process.pid, startedAt: processStartedAt(process.pid) }
  let holder: Lock | undefined
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      writeFileSync(lockFile, JSON.stringify(lock), { flag: 'wx' })
      return
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw error
    }
    holder = readLock(lockFile)
    if (holder && isAlive(holder)) break
    rmSync(lockFile, { force: true })
  }
  throw refuseStart(
    `A network is already running in ${dir} (process ${holder?.pid}). Stop it first, or start this one in another ` +
      'folder: GEOSWAP_HOME=<folder> npm start',
  )
}

function readLock(lockFile: string): Lock | undefined {
  try {
    return JSON.parse(readFileSync(lockFile, 'utf8')) as Lock
  } catch {
    return undefined
  }
}

// A process id may be reused, but not with the same start time.
function isAlive(lock: Lock): boolean {
  try {
    process.kill(lock.pid, 0)
  } catch (error) {
    if (!isErrno(error, 'EPERM')) return false
  }
  return processStartedAt(lock.pid) === lock.startedAt
}

// Field 22 of proc(5) stat, counted after the command's closing bracket. Empty without /proc.
function processStartedAt(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
