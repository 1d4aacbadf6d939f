import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

/** The user that runs the server: the current one, except that PostgreSQL refuses to run as root. */
export type ServerUser = { uid: number; gid: number } | undefined

/** An existing ordinary user (initdb looks its name up), so that the machine is not changed. */
export function chooseServerUser(): ServerUser {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const name of ['postgres', 'nobody']) {
    const user = users.find((fields) => fields[0] === name)
    if (user) return { uid: Number(user[2]), gid: Number(user[3]) }
  }
  throw new Error(
    'PostgreSQL cannot run as root, and this machine has no user postgres or nobody to run it as',
  )
}

/**
 * An empty folder owned by the server's user: the wanted one, or a temporary one if the user cannot enter a
 * parent folder.
 */
export function createServerDir(wanted: string, user: ServerUser): string {
  const dir = canEnterAbove(wanted, user) ? wanted : createTemporaryDir(user)
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  chmodSync(dir, 0o700)
  if (user) chownSync(dir, user.uid, user.gid)
  return dir
}

function createTemporaryDir(user: ServerUser): string {
  const parent = [tmpdir(), '/tmp', '/var/tmp'].find((dir) => canEnterAbove(join(dir, 'any'), user))
  if (!parent) throw new Error('Found no temporary folder that the user of PostgreSQL can enter')
  return mkdtempSync(join(parent, 'geoswap-postgres-'))
}

function canEnterAbove(path: string, user: ServerUser): boolean {
  if (!user) return true
  const parent = dirname(resolve(path))
  if (parent === resolve(path)) return true
  return canEnter(parent, user) && canEnterAbove(parent, user)
}

function canEnter(dir: string, user: NonNullable<ServerUser>): boolean {
  const found = statSync(dir, { throwIfNoEntry: false })
  if (!found) return true
  if (found.uid === user.uid) return (found.mode & 0o100) !== 0
  if (found.gid === user.gid) return (found.mode & 0o010) !== 0
  return (found.mode & 0o001) !== 0
}
