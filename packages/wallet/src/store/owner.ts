import { readFileSync } from 'node:fs'
import { isErrno } from './private-files.ts'

/** A process. Its id may be reused, but not with the same start time. */
export type Owner = { pid: number; startedAt: string }

export function currentOwner(): Owner {
  return { pid: process.pid, startedAt: startOf(process.pid) }
}

export function isAlive({ pid, startedAt }: Owner): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    if (!isErrno(error, 'EPERM')) return false
  }
  return startOf(pid) === startedAt
}

/** Field 22 of proc(5) stat, counted after the command's closing bracket. Empty without /proc. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ESRCH')) return ''
    throw error
  }
}
