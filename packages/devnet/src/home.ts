import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of one network: what it tells the world, what it tells its service, and its logs. */
export type Home = {
  dir: string
  localFile: string
  serviceFile: string
  /** What commands on this machine need and nobody else may read: the database's address, the seal keys, the
   * operator key and the keys that own the inventory. */
  secretsFile: string
  logFile(role: string): string
  /** The built page. */
  webDir: string
  /** Where the database keeps its files when its user can reach this folder. */
  databaseDir: string
  release(): void
}

type Lock = { pid: number; startedAt: string }

/**
 * Takes the folder for this process and empties it of an earlier network. Throws when a live network has it.
 */
export function takeHome(path: string): Home {
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
  for (const old of [localFile, serviceFile, secretsFile, envFile, logs, databaseDir, webDir])
    rmSync(old, { recursive: true, force: true })
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

/** Writes the whole file or nothing: a reader never sees half of it. */
export function writeJsonAtomically(path: string, value: unknown, mode = 0o644): void {
  const draft = `${path}.${process.pid}.tmp`
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode })
  renameSync(draft, path)
}

function takeLock(lockFile: string, dir: string): void {
  const lock: Lock = { pid: process.pid, startedAt: processStartedAt(process.pid) }
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      writeFileSync(lockFile, JSON.stringify(lock), { flag: 'wx' })
      return
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw error
    }
    const holder = readLock(lockFile)
    if (holder && isAlive(holder)) break
    rmSync(lockFile, { force: true })
  }
  throw new Error(
    `A network is already running in ${dir}. Stop it first, or start this one in another folder: ` +
      'GEOSWAP_HOME=<folder> PORT=<port> npm start',
  )
}

function readLock(lockFile: string): Lock | undefined {
  try {
    return JSON.parse(readFileSync(lockFile, 'utf8')) as Lock
  } catch {
    return undefined
  }
}

// A process id alone may belong to somebody else by now; together with its start time it does not.
function isAlive(lock: Lock): boolean {
  try {
    process.kill(lock.pid, 0)
  } catch (error) {
    if (!isErrno(error, 'EPERM')) return false
  }
  return processStartedAt(lock.pid) === lock.startedAt
}

// Field 22 of proc(5) stat, counted after the command's closing bracket. Empty where there is no /proc.
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
