import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { KnownContracts, PinStore } from '@geoswap/sdk'
import { UserError } from '../errors.ts'

// Keys, API keys and signed operations are readable by their owner only.
const FILE_MODE = 0o600
const FOLDER_MODE = 0o700

/** Undefined if the file does not exist. */
export function readJsonFile(path: string): unknown {
  const text = readTextFile(path)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw damaged(path, cause)
  }
}

export function damaged(path: string, cause?: unknown): UserError {
  const advice = 'Restore it from a backup, or move it away to start without it.'
  return new UserError('FILE_DAMAGED', `${path} has unexpected content.`, { advice, cause })
}

/** Replaces the file atomically: after a crash it has the old or the new content. */
export function replaceJsonFile(path: string, value: unknown): void {
  const draft = writeDraft(path, value)
  renameSync(draft, path)
}

/** Creates the file atomically. False if it exists: of several processes one succeeds. */
export function createJsonFile(path: string, value: unknown): boolean {
  const draft = writeDraft(path, value)
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false
    throw error
  } finally {
    rmSync(draft)
  }
}

export function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function readTextFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    throw error
  }
}

function writeDraft(path: string, value: unknown): string {
  mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE })
  const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`
  const file = openSync(draft, 'wx', FILE_MODE)
  try {
    writeSync(file, `${JSON.stringify(value, null, 2)}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return draft
}

type Pinned = Readonly<Record<string, Readonly<Record<string, KnownContracts>>>>

/** Contracts verified on their chain, by service, since each service may have its own deployment. */
export function openPins(path: string, service: string): PinStore {
  function read(): Pinned {
    const value = readJsonFile(path) ?? {}
    if (typeof value !== 'object' || Array.isArray(value)) throw damaged(path)
    return value as Pinned
  }

  return {
    get: (chainId) => read()[service]?.[chainId],
    set(chainId, contracts) {
      const pinned = read()
      replaceJsonFile(path, { ...pinned, [service]: { ...pinned[service], [chainId]: contracts } })
    },
  }
}
