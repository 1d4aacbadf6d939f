import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { X402Note, X402Store } from '@geoswap/sdk/x402'
import { UserError } from '../errors.ts'
import { currentOwner, isOwnerAlive } from './journal.ts'
import { createJsonFile, damaged, isErrno, readJsonFile, replaceJsonFile } from './private-files.ts'

/** A request that is paid for. `note`: what was begun for it; without one nothing is left to do. */
type Payment = {
  id: string
  generation: number
  url: string
  createdAt: string
  /** Absent once no process works on it. */
  owner?: ReturnType<typeof currentOwner> | undefined
  note?: X402Note | undefined
}

const FILE = /^([0-9a-f]{32})\.(\d+)\.json$/
const KEPT_MS = 30 * 24 * 3_600_000

type ClaimedPayment = { id: string; store: X402Store; release(): void }

/**
 * Takes over the payment of a request, with what an earlier process left of it. As in the journal, only one process can
 * create the file of the next generation.
 */
export function claimPayment(folder: string, { key, url }: { key: string; url: string }): ClaimedPayment {
  for (;;) {
    const last = findLast(folder, key)
    if (last?.owner && isOwnerAlive({ owner: last.owner })) throw busy(last.owner.pid)
    const generation = (last?.generation ?? 0) + 1
    const path = join(folder, `${key}.${generation}.json`)
    const id = last?.note === undefined ? `pay_${randomBytes(8).toString('hex')}` : last.id
    let payment: Payment = {
      ...{ id, generation, url, createdAt: new Date().toISOString(), owner: currentOwner() },
      note: last?.note,
    }
    if (!createJsonFile(path, payment)) continue
    prune(folder)
    const write = (change: Pick<Payment, 'note'> | Pick<Payment, 'owner'>) => {
      payment = { ...payment, ...change }
      replaceJsonFile(path, payment)
    }
    return {
      id,
      store: {
        get: () => payment.note,
        set: (_key, note) => write({ note }),
        delete: () => write({ note: undefined }),
      },
      release: () => write({ owner: undefined }),
    }
  }
}

function busy(pid: number): UserError {
  const message = `Another geoswap, process ${pid}, pays for the same request.`
  return new UserError('PAYMENT_IN_FLIGHT', message, { advice: 'Wait for it.' })
}

function findLast(folder: string, key: string): Payment | undefined {
  const [last] = readNames(folder)
    .filter((name) => name.startsWith(`${key}.`))
    .toSorted((a, b) => generationOf(b) - generationOf(a))
  return last === undefined ? undefined : readPayment(join(folder, last))
}

const generationOf = (name: string) => Number(FILE.exec(name)?.[2])

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => FILE.test(name))
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}

/** Undefined if the file was pruned after it was listed. */
function readPayment(path: string): Payment | undefined {
  const value = readJsonFile(path) as Payment | undefined
  if (value === undefined) return undefined
  if (typeof value.id !== 'string' || typeof value.createdAt !== 'string') throw damaged(path)
  return value
}

/** Long after the payment could be used. */
function prune(folder: string): void {
  for (const name of readNames(folder)) {
    const payment = readPayment(join(folder, name))
    if (payment && Date.parse(payment.createdAt) < Date.now() - KEPT_MS)
      rmSync(join(folder, name), { force: true })
  }
}
