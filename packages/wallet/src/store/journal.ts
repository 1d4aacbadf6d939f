import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Build, EndedSwap, Submission } from '@geoswap/sdk'
import { createJsonFile, damaged, isErrno, readJsonFile, replaceJsonFile } from './private-files.ts'

/** A process. Its id may be reused, but not with the same start time. */
type Owner = { pid: number; startedAt: string }

export function currentOwner(): Owner {
  return { pid: process.pid, startedAt: startOf(process.pid) }
}

function isAlive({ pid, startedAt }: Owner): boolean {
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

export type OrderSide = { chainId: number; chain: string; token: string; symbol: string; decimals: number }

/** A requested swap. Two orders that differ only in names are the same order. */
export type Order = {
  service: string
  wallet: { name: string; address: string }
  from: OrderSide
  to: OrderSide
  recipient: string
  tradeType: 'exactInput' | 'exactOutput'
  /** In the smallest unit, or `max`. */
  amount: string
}

/** The signed terms: with a node, they are enough for a refund. */
type Operation = Build['operation']

/** `notSubmitted`: there is no swap and there will be none. `lost`: the service no longer knows the swap. */
export type Outcome = EndedSwap['status'] | 'notSubmitted' | 'lost'

type Progress =
  | { stage: 'preparing' | 'built' }
  /** From here on a swap may exist. Sending the same submission again returns the same swap. */
  | { stage: 'submitting'; submission: Submission }
  | { stage: 'submitted'; swapId: string }
  | { stage: 'ended'; outcome: Outcome; swapId?: string | undefined; endedAt: string }

/** One attempt to perform an order. */
export type Attempt = Progress & {
  id: string
  key: string
  generation: number
  createdAt: string
  owner: Owner
  order: Order
  operation?: Operation | undefined
  /** URL of the origin chain's node. */
  rpcUrl?: string | undefined
  /** In seconds: the signature can be used until then, whatever the service reports. */
  lockableUntil?: number | undefined
}

type Change = Progress & Partial<Pick<Attempt, 'operation' | 'lockableUntil'>>

export type Journal = ReturnType<typeof openJournal>

const FILE = /^([0-9a-f]{32})\.(\d+)\.json$/
const KEPT_MS = 30 * 24 * 3_600_000

/**
 * All attempts made on this machine, one file each: `<order>.<generation>.json`. An attempt starts by
 * creating the file of the next generation, which only one process can do. So a crash leaves no lock behind.
 */
export function openJournal(folder: string) {
  const pathOf = ({ key, generation }: Pick<Attempt, 'key' | 'generation'>) =>
    join(folder, `${key}.${generation}.json`)

  function list(): Attempt[] {
    return readNames(folder).flatMap((name) => readAttempt(join(folder, name)) ?? [])
  }

  return {
    list,

    /** Finds an attempt by its id or by its swap's id. */
    find: (id: string) => list().find((attempt) => attempt.id === id || swapIdOf(attempt) === id),

    /** The last attempt at this order. */
    findLast(order: Order): Attempt | undefined {
      const key = keyOf(order)
      const ofOrder = readNames(folder).filter((name) => name.startsWith(`${key}.`))
      const last = ofOrder.toSorted((a, b) => generationOf(b) - generationOf(a))[0]
      return last === undefined ? undefined : readAttempt(join(folder, last))
    },

    /** Undefined if another process began an attempt after `last`: read again. */
    begin(order: Order, last: Attempt | undefined, rpcUrl: string | undefined): Attempt | undefined {
      const attempt: Attempt = {
        id: `att_${randomBytes(8).toString('hex')}`,
        key: keyOf(order),
        generation: (last?.generation ?? 0) + 1,
        createdAt: new Date().toISOString(),
        owner: currentOwner(),
        order,
        stage: 'preparing',
        rpcUrl,
      }
      const isOurs = createJsonFile(pathOf(attempt), attempt)
      if (isOurs) prune(list(), (old) => rmSync(pathOf(old), { force: true }))
      return isOurs ? attempt : undefined
    },

    /** Fields that are not in the change stay, except those of another stage. */
    record(attempt: Attempt, change: Change): Attempt {
      const { id, key, generation, createdAt, owner, order, operation, rpcUrl, lockableUntil } = attempt
      const kept = { id, key, generation, createdAt, owner, order, operation, rpcUrl, lockableUntil }
      const next: Attempt = { ...kept, ...change }
      replaceJsonFile(pathOf(next), next)
      return next
    },
  }
}

export function swapIdOf(attempt: Attempt): string | undefined {
  return 'swapId' in attempt ? attempt.swapId : undefined
}

/** True if a process works on the attempt or waits for its end. */
export type IsAttended = (attempt: Attempt) => boolean

export const isOwnerAlive = ({ owner }: Pick<Attempt, 'owner'>): boolean => isAlive(owner)

/**
 * Whether the last attempt allows another one. `ask`: the service must report the outcome first. `signed`:
 * only the service says that it is over, and its signature can still be used.
 */
type Standing = 'free' | 'busy' | 'unknown' | 'ask' | 'signed'

export function standingOf(last: Attempt | undefined, isAttended: IsAttended = isOwnerAlive): Standing {
  if (last === undefined) return 'free'
  if (last.stage === 'ended') return isUsable(last) ? 'signed' : 'free'
  if (isAttended(last)) return 'busy'
  if (last.stage === 'submitting') return 'unknown'
  return last.stage === 'submitted' ? 'ask' : 'free'
}

/** A settled swap has used the signature. The signature of a local network ends with the network. */
export function isOpenEnd(attempt: Attempt): boolean {
  return attempt.stage !== 'ended' || !['settled', 'lost'].includes(attempt.outcome)
}

/** Whether the signature can still be used, by the local clock. */
export function isUsable(attempt: Attempt, nowMs = Date.now()): boolean {
  if (!isOpenEnd(attempt)) return false
  return attempt.lockableUntil !== undefined && nowMs <= attempt.lockableUntil * 1_000
}

export function keyOf({ service, wallet, from, to, recipient, tradeType, amount }: Order): string {
  const words = [
    service,
    wallet.address,
    from.chainId,
    from.token,
    to.chainId,
    to.token,
    recipient,
    tradeType,
    amount,
  ]
  return createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 32)
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => FILE.test(name))
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}

function generationOf(name: string): number {
  return Number(FILE.exec(name)?.[2])
}

/** Undefined if the file was pruned after it was listed. */
function readAttempt(path: string): Attempt | undefined {
  const value = readJsonFile(path) as Attempt | undefined
  if (value === undefined) return undefined
  if (typeof value.id !== 'string' || typeof value.stage !== 'string') throw damaged(path)
  return value
}

/** Long after the end, so that no process still takes the generation for the last one. */
function prune(attempts: readonly Attempt[], remove: (attempt: Attempt) => void): void {
  const before = Date.now() - KEPT_MS
  for (const attempt of attempts) {
    if (attempt.stage === 'ended' && Date.parse(attempt.endedAt) < before) remove(attempt)
  }
}
