import { createHash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import type { Chain, Fees, Heads, TxRequest } from '../chains/chain.ts'
import {
  type Attempt,
  findAttemptSwaps,
  findOpenAttempts,
  markAttemptsFinal,
  type Role,
  raiseNonce,
  recordAttempt,
  takeNonce,
} from '../store/attempts.ts'
import { inTransaction } from '../store/db.ts'
import { confirmLease, type Lease } from '../store/lanes.ts'

type Options = {
  pool: Pool
  chain: Pick<Chain, 'chainId' | 'readNonces' | 'readFees' | 'sign' | 'broadcast'>
  address: string
  maxInFlight: number
  onSent(sent: { role: Role; swapIds: readonly string[]; txHash: string }): void
  onSendFault(error: unknown, txHash: string): void
  onReplaced(attempt: Attempt): void
}

/** What is to be sent, and what becomes true in the database in the transaction that records its bytes. */
export type Work = {
  role: Role
  request: TxRequest
  swapIds: readonly string[]
  /** False undoes everything: the swaps moved on meanwhile, and nothing is signed or sent. */
  record(db: PoolClient, recorded: { attemptId: string; txHash: string }): Promise<boolean>
}

export type Sender = {
  address: string
  /** How many more transactions may be in flight now. */
  room(): number
  send(lease: Lease, heads: Heads, work: Work): Promise<boolean>
  followUp(lease: Lease, heads: Heads): Promise<void>
}

type StoredRequest = TxRequest & {
  fees: { maxFeePerGas: string; maxPriorityFeePerGas: string }
  headBlock: string
}

const REBROADCAST_MS = 2_000
// Nodes take a replacement only at an eighth more than what it replaces.
const raise = (fee: bigint) => (fee * 9n) / 8n + 1n
const REPLACE_AFTER_BLOCKS = 3n
// After this many raises the bytes are not the trouble: the nonce is burnt, and the work starts over.
const MAX_RAISES = 6

class Outdated extends Error {}

/** Sends one key's transactions: recorded before they are sent, sent again until the chain consumed the nonce. */
export function createSender(options: Options): Sender {
  const { pool, chain, address, maxInFlight } = options
  const key = { chainId: chain.chainId, address }
  const sentAt = new Map<string, number>()
  let inFlight = Number.POSITIVE_INFINITY // unknown until the first follow-up
  let fees: { head: string; value: Fees } | undefined

  async function feesAt(heads: Heads): Promise<Fees> {
    if (fees?.head !== heads.head.hash) fees = { head: heads.head.hash, value: await chain.readFees(heads) }
    return fees.value
  }

  async function broadcast(attempt: { raw: string; txHash: string }): Promise<void> {
    sentAt.set(attempt.txHash, Date.now())
    // An error says nothing about whether the bytes arrived; the chain will tell.
    await chain.broadcast(attempt.raw).catch((error) => options.onSendFault(error, attempt.txHash))
  }

  async function send(lease: Lease, heads: Heads, work: Work): Promise<boolean> {
    const price = await feesAt(heads)
    const signed = await inTransaction(pool, async (db) => {
      if (!(await confirmLease(db, lease))) throw new Outdated()
      const nonce = await takeNonce(db, key)
      const signed = await chain.sign(work.request, { sender: address, nonce, fees: price })
      const attemptId = await recordAttempt(db, {
        ...{ ...key, sender: address, nonce, replacement: 0, role: work.role, swapIds: work.swapIds },
        ...signed,
        effectHash: effectOf(work.request),
        request: { ...work.request, fees: price, headBlock: heads.head.number },
      })
      if (!(await work.record(db, { attemptId, txHash: signed.txHash }))) throw new Outdated()
      return signed
    }).catch(outdatedAsUndefined)
    if (!signed) return false
    inFlight += 1
    await broadcast(signed)
    options.onSent({ role: work.role, swapIds: work.swapIds, txHash: signed.txHash })
    return true
  }

  async function followUp(lease: Lease, heads: Heads): Promise<void> {
    const nonces = await chain.readNonces(address, heads)
    await raiseNonce(pool, { ...key, atLeast: nonces.latest })
    await markAttemptsFinal(pool, { ...key, belowNonce: nonces.hard })
    const open = await findOpenAttempts(pool, key)
    const unmined = newestPerNonce(open.filter((attempt) => attempt.nonce >= nonces.latest))
    inFlight = unmined.length
    const due = Date.now() - REBROADCAST_MS
    const resend = unmined.filter((attempt) => (sentAt.get(attempt.txHash) ?? 0) < due)
    await Promise.all(resend.map(broadcast))
    const [stuck] = unmined
    if (stuck) await replaceIfStuck(lease, heads, stuck)
    for (const hash of sentAt.keys())
      if (!open.some((attempt) => attempt.txHash === hash)) sentAt.delete(hash)
  }

  /** The lowest nonce holds up all others: it pays more until it is in a block. */
  async function replaceIfStuck(lease: Lease, heads: Heads, stuck: Attempt): Promise<void> {
    const { fees: paid, headBlock, ...request } = stuck.request as StoredRequest
    if (heads.head.number - BigInt(headBlock) < REPLACE_AFTER_BLOCKS) return
    const current = await feesAt(heads)
    const price = {
      maxFeePerGas: max(raise(BigInt(paid.maxFeePerGas)), current.maxFeePerGas),
      maxPriorityFeePerGas: max(raise(BigInt(paid.maxPriorityFeePerGas)), current.maxPriorityFeePerGas),
    }
    const burn = stuck.role === 'noop' || stuck.replacement >= MAX_RAISES
    const next: TxRequest = burn ? { to: address, data: '0x', gas: 21_000 } : request
    const signed = await inTransaction(pool, async (db) => {
      if (!(await confirmLease(db, lease))) throw new Outdated()
      const signed = await chain.sign(next, { sender: address, nonce: stuck.nonce, fees: price })
      await recordAttempt(db, {
        ...{ ...key, sender: address, nonce: stuck.nonce, replacement: stuck.replacement + 1 },
        ...signed,
        role: burn ? 'noop' : stuck.role,
        swapIds: burn ? [] : await findAttemptSwaps(db, stuck.id),
        effectHash: effectOf(next),
        request: { ...next, fees: price, headBlock: heads.head.number },
      })
      return signed
    }).catch(outdatedAsUndefined)
    if (!signed) return
    options.onReplaced(stuck)
    await broadcast(signed)
  }

  return { address, room: () => Math.max(0, maxInFlight - inFlight), send, followUp }
}

/** Every replacement but a burn does the same thing: this says so, and the write-ahead log shows it. */
function effectOf({ to, data, authorizations }: TxRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([to, data, authorizations]))
    .digest('hex')
}

function newestPerNonce(attempts: Attempt[]): Attempt[] {
  return [...new Map(attempts.map((attempt) => [attempt.nonce, attempt])).values()]
}

const max = (a: bigint, b: bigint) => (a > b ? a : b)

function outdatedAsUndefined(error: unknown): undefined {
  if (error instanceof Outdated) return undefined
  throw error
}
