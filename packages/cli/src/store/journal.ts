import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Build, EndedSwap, Submission } from '@geoswap/sdk'
import { currentOwner, isAlive, type Owner } from './owner.ts'
import { createJsonFile, damaged, isErrno, readJsonFile, replaceJsonFile } from './private-files.ts'

export type OrderSide = { chainId: number; chain: string; token: string; symbol: string; decimals: number }

/** What somebody asked for. Two orders that are alike in all of this, but for names, are the same order. */
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

/** The typed data of an op: all that a refund needs beside a node. */
export type Operation = Extract<Build, { origin: 'evm' }>['operation']

/** `notSubmitted`: there is no swap and there will be none. `lost`: the service does not know it any more. */
export type Outcome = EndedSwap['status'] | 'notSubmitted' | 'lost'

type Progress =
  | { stage: 'preparing' | 'built' }
  /** From here on there may be a swap; who sends the same submission again gets the same one. */
  | { stage: 'submitting'; submission: Submission }
  | { stage: 'submitted'; swapId: string }
  | { stage: 'ended'; outcome: Outcome; swapId?: string | undefined; endedAt: string }

/** One try to have an order swapped. */
export type Attempt = Progress & {
  id: string
  key: string
  generation: number
  createdAt: string
  owner: Owner
  order: Order
  operation?: Operation | undefined
  /** Where the origin chain's node was. */
  rpcUrl?: string | undefined
  /** Until when what was signed can be used, whatever the service says; in seconds. */
  lockableUntil?: number | undefined
}

type Change = Progress & Partial<Pick<Attempt, 'operation' | 'lockableUntil'>>

export type Journal = ReturnType<typeof openJournal>

const FILE = /^([0-9a-f]{32})\.(\d+)\.json$/
const KEPT_MS = 30 * 24 * 3_600_000

/**
 * Every swap that was tried from here, one file each: `<order>.<generation>.json`. An attempt is begun by creating
 * the generation after the last one, which of several processes one can do. So no lock is left by a crash.
 */
export function openJournal(folder: string) {
  const pathOf = ({ key, generation }: Pick<Attempt, 'key' | 'generation'>) =>
    join(folder, `${key}.${generation}.json`)

  function list(): Attempt[] {
    return readNames(folder).flatMap((name) => readAttempt(join(folder, name)) ?? [])
  }

  return {
    list,

    /** By its own id or by that of its swap. */
    find: (id: string) => list().find((attempt) => attempt.id === id || swapIdOf(attempt) === id),

    /** The last attempt at this order. */
    findLast(order: Order): Attempt | undefined {
      const key = keyOf(order)
      const ofOrder = readNames(folder).filter((name) => name.startsWith(`${key}.`))
      const last = ofOrder.toSorted((a, b) => generationOf(b) - generationOf(a))[0]
      return last === undefined ? undefined : readAttempt(join(folder, last))
    },

    /** Undefined when somebody else has begun one after `last`: look again. */
    begin(order: Order, last: Attempt | undefined, rpcUrl: string | undefined): Attempt | undefined {
      const attempt: Attempt = {
        ...{ id: `att_${randomBytes(8).toString('hex')}`, key: keyOf(order) },
        ...{ generation: (last?.generation ?? 0) + 1, createdAt: new Date().toISOString() },
        ...{ owner: currentOwner(), order, stage: 'preparing', rpcUrl },
      }
      const isOurs = createJsonFile(pathOf(attempt), attempt)
      if (isOurs) prune(list(), (old) => rmSync(pathOf(old), { force: true }))
      return isOurs ? attempt : undefined
    },

    /** What is not in the change stays, but for what belongs to another stage. */
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

/** Whether somebody is at it, or will be told how it ends. */
export type IsAttended = (attempt: Attempt) => boolean

export const isOwnerAlive: IsAttended = ({ owner }) => isAlive(owner)

/**
 * Whether a last attempt allows a further one. `ask`: the service has to say first what became of it. `signed`: it is
 * over by the service's word alone, and its signature can still be used.
 */
export type Standing = 'free' | 'busy' | 'unknown' | 'ask' | 'signed'

export function standingOf(last: Attempt | undefined, isAttended: IsAttended = isOwnerAlive): Standing {
  if (last === undefined) return 'free'
  if (last.stage === 'ended') return isUsable(last) ? 'signed' : 'free'
  if (isAttended(last)) return 'busy'
  if (last.stage === 'submitting') return 'unknown'
  return last.stage === 'submitted' ? 'ask' : 'free'
}

/** A swap that settled took what was signed; a local network that is gone took it along. */
export function isOpenEnd(attempt: Attempt): boolean {
  return attempt.stage !== 'ended' || !['settled', 'lost'].includes(attempt.outcome)
}

/** Whether what was signed can still be used, by this machine's clock. */
export function isUsable(attempt: Attempt, nowMs = Date.now()): boolean {
  if (!isOpenEnd(attempt)) return false
  return attempt.lockableUntil !== undefined && nowMs <= attempt.lockableUntil * 1_000
}

export function keyOf({ service, wallet, from, to, recipient, tradeType, amount }: Order): string {
  const words = [
    ...[service, wallet.address, from.chainId, from.token, to.chainId, to.token],
    ...[recipient, tradeType, amount],
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

/** Undefined when it was pruned since its name was read. */
function readAttempt(path: string): Attempt | undefined {
  const value = readJsonFile(path) as Attempt | undefined
  if (value === undefined) return undefined
  if (typeof value.id !== 'string' || typeof value.stage !== 'string') throw damaged(path)
  return value
}

/** Long after the end: whoever could still believe that the generation is the last one is gone by then. */
function prune(attempts: readonly Attempt[], remove: (attempt: Attempt) => void): void {
  const before = Date.now() - KEPT_MS
  for (const attempt of attempts) {
    if (attempt.stage === 'ended' && Date.parse(attempt.endedAt) < before) remove(attempt)
  }
}
