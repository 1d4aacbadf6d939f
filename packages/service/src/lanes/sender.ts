import { createHash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import type { Chain, Fees, Heads, Signed, TxRequest } from '../chains/chain.ts'
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
// A key without open transactions is looked at again this often: the worker before may have been slow to commit.
const IDLE_CHECK_MS = 5_000
const REPLACE_AFTER_BLOCKS = 3n
// After this many raises the bytes are not the trouble: the nonce is burnt, and the work starts over.
const MAX_RAISES = 6

/** The swaps moved on or the lane changed hands: what was about to be signed must not be. */
class Outdated extends Error {}

/** Sends one key's transactions: recorded before they are sent, sent again until the chain consumed the nonce. */
export function createSender(options: Options): Sender {
  const { pool, chain, address, maxInFlight } = options
  const key = { chainId: chain.chainId, address }
  const feesAt = createFeeMemo(chain)
  const mouth = createBroadcaster(options)
  const readLatestNonce = createNonceReader(options)
  let inFlight = Number.POSITIVE_INFINITY // unknown until the first follow-up
  let idleUntil = 0 // nothing of this key is open: there is nothing to follow up on

  async function send(lease: Lease, heads: Heads, work: Work): Promise<boolean> {
    const signing = { ...work, replacement: 0, fees: await feesAt(heads), headBlock: heads.head.number }
    const signed = await unlessOutdated(pool, async (db) => {
      const nonce = await takeNonce(db, key, lease)
      if (nonce === undefined) throw new Outdated()
      const { attemptId, ...signed } = await signAndRecord(options, db, { ...signing, nonce })
      if (!(await work.record(db, { attemptId, txHash: signed.txHash }))) throw new Outdated()
      return signed
    })
    if (!signed) return false
    inFlight += 1
    idleUntil = 0
    await mouth.send(signed)
    options.onSent({ role: work.role, swapIds: work.swapIds, txHash: signed.txHash })
    return true
  }

  async function followUp(lease: Lease, heads: Heads): Promise<void> {
    if (Date.now() < idleUntil) return
    const latest = await readLatestNonce(heads)
    const open = await findOpenAttempts(pool, key)
    const unmined = newestPerNonce(open.filter((attempt) => attempt.nonce >= latest))
    inFlight = unmined.length
    idleUntil = open.length === 0 ? Date.now() + IDLE_CHECK_MS : 0
    await mouth.repeat(unmined)
    const [stuck] = unmined
    if (stuck) await replaceIfStuck(lease, heads, stuck)
  }

  /** The lowest nonce holds up all others: it pays more until it is in a block. */
  async function replaceIfStuck(lease: Lease, heads: Heads, stuck: Attempt): Promise<void> {
    const signing = replacementOf(stuck, heads, await feesAt(heads))
    if (!signing) return
    const signed = await unlessOutdated(pool, async (db) => {
      if (!(await confirmLease(db, lease))) throw new Outdated()
      return signAndRecord(options, db, {
        ...signing,
        swapIds: signing.role === 'noop' ? [] : await findAttemptSwaps(db, stuck.id),
      })
    })
    if (!signed) return
    options.onReplaced(stuck)
    await mouth.send(signed)
  }

  return { address, room: () => Math.max(0, maxInFlight - inFlight), send, followUp }
}

function createFeeMemo(chain: Options['chain']): (heads: Heads) => Promise<Fees> {
  let known: { hash: string; fees: Fees } | undefined
  return async (heads) => {
    const { hash } = heads.head
    if (known?.hash !== hash) known = { hash, fees: await chain.readFees(heads) }
    return known.fees
  }
}

/** Hands bytes to the nodes. An error says nothing about whether they arrived; the chain will tell. */
function createBroadcaster({ chain, onSendFault }: Options) {
  let sentAt = new Map<string, number>()
  const send = async ({ raw, txHash }: Signed): Promise<void> => {
    sentAt.set(txHash, Date.now())
    await chain.broadcast(raw).catch((error) => onSendFault(error, txHash))
  }
  return {
    send,
    /** Offers again what no block includes; forgets everything else. */
    async repeat(unmined: readonly Signed[]): Promise<void> {
      const due = Date.now() - REBROADCAST_MS
      sentAt = new Map(unmined.map(({ txHash }) => [txHash, sentAt.get(txHash) ?? 0]))
      await Promise.all(unmined.filter(({ txHash }) => (sentAt.get(txHash) ?? 0) < due).map(send))
    },
  }
}

/** Takes over what the chain says of the key's nonces; says nothing twice to the database. */
function createNonceReader({ pool, chain, address }: Options): (heads: Heads) => Promise<number> {
  const key = { chainId: chain.chainId, address }
  let seen = { latest: -1, hard: -1 }
  return async (heads) => {
    const nonces = await chain.readNonces(address, heads)
    if (nonces.latest > seen.latest) await raiseNonce(pool, { ...key, atLeast: nonces.latest })
    if (nonces.hard !== seen.hard) await markAttemptsFinal(pool, { ...key, belowNonce: nonces.hard })
    seen = nonces
    return nonces.latest
  }
}

/** Runs `work` in a transaction; undefined, with nothing changed, when it finds itself outdated. */
async function unlessOutdated<T>(pool: Pool, work: (db: PoolClient) => Promise<T>): Promise<T | undefined> {
  return inTransaction(pool, work).catch((error: unknown) => {
    if (error instanceof Outdated) return undefined
    throw error
  })
}

type Signing = Pick<Work, 'role' | 'request' | 'swapIds'> & {
  nonce: number
  replacement: number
  fees: Fees
  headBlock: bigint
}

async function signAndRecord({ chain, address }: Options, db: PoolClient, signing: Signing) {
  const { request, nonce, replacement, role, swapIds, fees, headBlock } = signing
  const signed = await chain.sign(request, { sender: address, nonce, fees })
  const attemptId = await recordAttempt(db, {
    ...{ chainId: chain.chainId, sender: address, nonce, replacement, role, swapIds },
    ...signed,
    effectHash: effectOf(request),
    request: { ...request, fees, headBlock },
  })
  return { ...signed, attemptId }
}

/** What takes the place of a transaction that no block includes; undefined while it is too early. */
function replacementOf(stuck: Attempt, { head }: Heads, current: Fees): Omit<Signing, 'swapIds'> | undefined {
  const { fees: paid, headBlock, ...request } = stuck.request as StoredRequest
  if (head.number - BigInt(headBlock) < REPLACE_AFTER_BLOCKS) return undefined
  const isBurn = stuck.role === 'noop' || stuck.replacement >= MAX_RAISES
  return {
    role: isBurn ? 'noop' : stuck.role,
    request: isBurn ? { to: stuck.sender, data: '0x', gas: 21_000 } : request,
    nonce: stuck.nonce,
    replacement: stuck.replacement + 1,
    fees: raisedFees(paid, current),
    headBlock: head.number,
  }
}

/** Nodes take a replacement only at an eighth more than what it replaces. */
function raisedFees(paid: StoredRequest['fees'], current: Fees): Fees {
  const raise = (fee: string, least: bigint) => {
    const raised = (BigInt(fee) * 9n) / 8n + 1n
    return raised > least ? raised : least
  }
  return {
    maxFeePerGas: raise(paid.maxFeePerGas, current.maxFeePerGas),
    maxPriorityFeePerGas: raise(paid.maxPriorityFeePerGas, current.maxPriorityFeePerGas),
  }
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
