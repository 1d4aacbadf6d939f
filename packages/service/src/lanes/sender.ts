import { createHash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import type { Chain, Heads, Refusal, Replacement, Signed, SigningTerms, TxRequest } from '../chains/chain.ts'
import { failPoint } from '../fail-point.ts'
import { minedRecheckMs } from '../model/poll-pace.ts'
import {
  type Attempt,
  FIRST_MINED,
  findAttemptSwaps,
  findOpenAttempts,
  type Role,
  raiseNonce,
  recordAttempt,
  type SenderKey,
  takeNonce,
} from '../store/attempts.ts'
import { inTransaction } from '../store/db.ts'
import { confirmLease, type Lease } from '../store/lanes.ts'
import { toJson } from '../store/swaps.ts'
import { type Broadcaster, createBroadcaster } from './broadcaster.ts'
import { noteFates } from './note-fates.ts'
import { type IsClaimable, readWorths, type Worths } from './worth.ts'

type SendingChain = Pick<
  Chain,
  | ('chainId' | 'hasNonces' | 'readTerms' | 'boundTerms' | 'sign')
  | ('fits' | 'broadcast' | 'readFates' | 'planReplacement' | 'isSignedFor' | 'readCoins')
>

type Options = {
  pool: Pool
  chain: SendingChain
  address: string
  maxInFlight: number
  isClaimable: IsClaimable
  onSent(sent: { role: Role; swapIds: readonly string[]; txHash: string }): void
  onSendFault(error: unknown, txHash: string): void
  onRefused(refusal: Refusal, txHash: string): void
  onReplaced(replaced: { attempt: Attempt; swapIds: readonly string[]; by: string }): void
}

/** What is to be sent, and what becomes true in the database in the transaction that records its bytes. */
export type Work = {
  role: Role
  request: TxRequest
  swapIds: readonly string[]
  /** The most that a unit of gas may cost, all fees together; 0 or absent for whatever it takes. */
  feeBound?: bigint
  /** False undoes everything: the swaps moved on meanwhile, and nothing is signed or sent. */
  record(db: PoolClient, recorded: { attemptId: string; txHash: string }): Promise<boolean>
}

export type Sender = {
  address: string
  /** How many more transactions may be in flight now. */
  room(): number
  /** Whether what is sent now would keep to this bound. */
  affords(heads: Heads, feeBound: bigint): Promise<boolean>
  /** Whether a block has room for this, as it would be sent now. */
  fits(heads: Heads, request: TxRequest): Promise<boolean>
  /** False when nothing was signed: it would cost too much now, has no room in a block, or is outdated. */
  send(lease: Lease, heads: Heads, work: Work): Promise<boolean>
  followUp(lease: Lease, heads: Heads): Promise<void>
  /** Whether nodes refused something since the last follow-up: it is not to wait for the next block. */
  isRefused(): boolean
}

// A key without open transactions is looked at again this often: the worker before may have been slow to commit.
const IDLE_CHECK_MS = 5_000
// The chain is asked for the nonce of such a key less often: only somebody else could have used it.
const NONCE_CHECK_MS = 300_000
/** The swaps moved on or the lane changed hands: what was about to be signed must not be. */
class Outdated extends Error {}

/** Sends one key's transactions: recorded before they are sent, sent again until the chain decided on them. */
export function createSender(options: Options): Sender {
  const { pool, chain, address, maxInFlight } = options
  const key = { chainId: chain.chainId, address }
  const termsAt = createTermsMemo(chain)
  const broadcaster = createBroadcaster(options)
  let nextNonce = -1 // what the chain was last seen to expect: less than before after a reorg
  let inFlight = Number.POSITIVE_INFINITY // unknown until the first follow-up
  let idleUntil = 0 // nothing of this key is open: there is nothing to follow up on
  // When the chain was last asked, and its final block then.
  let seen: Seen = { hard: '', at: Number.NEGATIVE_INFINITY, hasMore: false }
  let sent = 0 // a follow-up runs beside the sends and must not overlook those it began before

  async function send(lease: Lease, heads: Heads, { feeBound = 0n, ...work }: Work): Promise<boolean> {
    const terms = boundBy(chain, await termsAt(heads), feeBound)
    if (!terms) return false
    if (!chain.fits(work.request, terms)) return false
    const signing = { ...work, ...sentAt(heads), replacement: 0, terms }
    const signed = await signAndRecord(options, lease, signing, work)
    if (!signed) return false
    sent += 1
    inFlight += 1
    idleUntil = 0
    await sendRecorded(broadcaster, work.role, signed)
    options.onSent({ role: work.role, swapIds: work.swapIds, txHash: signed.txHash })
    return true
  }

  async function followUp(lease: Lease, heads: Heads): Promise<void> {
    const now = performance.now()
    if (now < idleUntil || (inFlight === 0 && now - seen.at < quietMs(seen, heads))) return
    const before = sent
    const open = await findOpenAttempts(pool, key)
    const isIdle = open.length === 0 && inFlight === 0
    if (isIdle) idleUntil = now + IDLE_CHECK_MS
    if (isIdle && now - seen.at < NONCE_CHECK_MS) return
    const fates = await chain.readFates(address, open, heads)
    if (fates.nextNonce > nextNonce) await raiseNonce(pool, { ...key, atLeast: fates.nextNonce })
    nextNonce = fates.nextNonce
    await noteFates(pool, open, fates, heads)
    inFlight = fates.unmined.length + sent - before
    seen = { hard: heads.hard.hash, at: now, hasMore: fates.final.length >= FIRST_MINED }
    idleUntil = open.length === 0 && sent === before ? performance.now() + IDLE_CHECK_MS : 0
    const worths = await broadcaster.repeat(fates.unmined)
    for (const found of findStuck(fates.unmined, worths, broadcaster.refusalOf)) {
      const terms = await termsAt(heads, found.isRefused)
      await replaceIfStuck({ options, broadcaster }, lease, heads, { ...found, terms })
    }
  }

  const room = () => Math.max(0, maxInFlight - inFlight)
  const affords = async (heads: Heads, feeBound: bigint) =>
    boundBy(chain, await termsAt(heads), feeBound) !== undefined
  const fits = async (heads: Heads, request: TxRequest) => chain.fits(request, await termsAt(heads))
  return { address, room, affords, fits, send, followUp, isRefused: broadcaster.isRefused }
}

type Seen = { hard: string; at: number; hasMore: boolean }

/** Behind as many final ones as are read at once there may be more: they follow with the next head. */
function quietMs(seen: Seen, { head, hard }: Heads): number {
  if (seen.hasMore) return 0
  return minedRecheckMs(hard.hash !== seen.hard, Number(head.number - hard.number))
}

/** Undefined, with nothing recorded, when the work is outdated. */
async function signAndRecord(
  options: Options,
  lease: Lease,
  signing: Signing,
  work: Pick<Work, 'record' | 'role'>,
): Promise<Signed | undefined> {
  const { pool, chain, address } = options
  const key = { chainId: chain.chainId, address }
  // What needs no nonce is signed before the transaction begins, so that none waits for another's signature.
  const ready = chain.hasNonces ? undefined : await signWith(options, signing)
  return unlessOutdated(pool, async (db) => {
    const numbered = ready ? signing : { ...signing, nonce: await takeNonceOrStop(db, key, lease) }
    const signed = ready ?? (await signWith(options, numbered))
    const attemptId = await recordSigned(options, db, lease, numbered, signed)
    if (!(await work.record(db, { attemptId, txHash: signed.txHash }))) throw new Outdated()
    failPoint(`before record ${work.role}`)
    return signed
  })
}

const sentAt = ({ head }: Heads) => ({ sentAtBlock: head.number, sentAtSeconds: head.seconds })

/**
 * The oldest, which may hold up all others; what no node has; and what nobody wants any more: a node may have it for
 * its next block all the same. A key that is out of coin is waited for.
 */
function findStuck(
  unmined: readonly Attempt[],
  worths: Worths,
  refusalOf: (attempt: Attempt) => Refusal | undefined,
): Found[] {
  const [oldest] = unmined
  return unmined
    .map((stuck) => {
      const refusal = refusalOf(stuck)
      const isUnwanted = worths.get(stuck.id) === 'nothing' || refusal === 'authority'
      return { stuck, isUnwanted, isRefused: refusal !== undefined && refusal !== 'unfunded' }
    })
    .filter(({ stuck, isUnwanted, isRefused }) => stuck === oldest || isUnwanted || isRefused)
}

type Found = { stuck: Attempt; isUnwanted: boolean; isRefused: boolean }
type Stuck = Found & { terms: SigningTerms }

/** Where the chain allows it, it pays more until it is in a block, or gives its nonce back. */
async function replaceIfStuck(
  { options, broadcaster }: { options: Options; broadcaster: Broadcaster },
  lease: Lease,
  heads: Heads,
  found: Stuck,
): Promise<void> {
  const { pool, chain, address, onReplaced } = options
  const { stuck } = found
  const replacement = await planReplacement(options, heads, found)
  // A key that runs out of coin is not helped by paying more: each raise would cost it more when it has some again.
  if (!replacement || replacement.cost > (await chain.readCoins(address, heads.head))) return
  const signing = { ...replacement, ...sentAt(heads) }
  const signed = await unlessOutdated(pool, (db) => signReplacement(options, db, lease, stuck, signing))
  if (!signed) return
  onReplaced({ attempt: stuck, swapIds: signed.swapIds, by: signed.txHash })
  await sendRecorded(broadcaster, replacement.isBurn ? 'noop' : 'replacement', signed)
}

/** A reorg may undo what others rely on by now: that is not given up because it has become dear. */
async function planReplacement(options: Options, heads: Heads, found: Stuck) {
  const { chain } = options
  const { stuck, isUnwanted, isRefused, terms } = found
  if (isUnwanted) return chain.planReplacement(stuck, heads, terms, { worth: 'nothing' })
  const planned = chain.planReplacement(stuck, heads, terms, { isRefused })
  if (!planned || stuck.isBurn) return planned
  const worth = (await readWorths(options, [stuck])).get(stuck.id)
  const replacement = worth && chain.planReplacement(stuck, heads, terms, { worth, isRefused })
  if (!replacement || replacement.isBurn) return replacement
  // A key signs a stored request again only as it stands in the bytes that it signed before.
  const isOurs = await chain.isSignedFor(stuck.request, { raw: stuck.raw, sender: options.address })
  return isOurs ? replacement : chain.planReplacement(stuck, heads, terms, { worth: 'nothing' })
}

const boundBy = (chain: SendingChain, terms: SigningTerms, feeBound: bigint) =>
  feeBound > 0n ? chain.boundTerms(terms, feeBound) : terms

async function takeNonceOrStop(db: PoolClient, key: SenderKey, lease: Lease): Promise<number> {
  const nonce = await takeNonce(db, key, lease)
  if (nonce === undefined) throw new Outdated()
  return nonce
}

/** Terms are read once for each head, and anew after a refusal. */
function createTermsMemo(chain: SendingChain) {
  let known: { hash: string; terms: Promise<SigningTerms> } | undefined
  return (heads: Heads, isRefused = false): Promise<SigningTerms> => {
    const { hash } = heads.head
    if (known?.hash === hash && !isRefused) return known.terms
    const terms = chain.readTerms(heads, isRefused)
    known = { hash, terms }
    terms.catch(() => {
      known = undefined
    })
    return terms
  }
}

async function sendRecorded(
  broadcaster: Broadcaster,
  step: Role | 'replacement',
  signed: Signed,
): Promise<void> {
  failPoint(`after record ${step}`)
  await broadcaster.send(signed)
  failPoint(`after broadcast ${step}`)
}

/** Runs `work` in a transaction; undefined, with nothing changed, when it finds itself outdated. */
async function unlessOutdated<T>(pool: Pool, work: (db: PoolClient) => Promise<T>): Promise<T | undefined> {
  return inTransaction(pool, work).catch((error: unknown) => {
    if (error instanceof Outdated) return undefined
    throw error
  })
}

type Signing = Pick<Work, 'role' | 'request' | 'swapIds'> & {
  nonce?: number
  replacement: number
  terms: SigningTerms
  sentAtBlock: bigint
  sentAtSeconds: number
}

function signWith({ chain, address }: Options, { request, terms, nonce }: Signing) {
  return chain.sign(request, { sender: address, terms, ...(nonce !== undefined && { nonce }) })
}

async function recordSigned(
  { chain, address }: Options,
  db: PoolClient,
  lease: Lease,
  { nonce, ...signing }: Signing,
  signed: Signed,
): Promise<string> {
  const attempt = {
    ...signed,
    ...signing,
    chainId: chain.chainId,
    sender: address,
    effectHash: effectOf(signing.request),
    ...(nonce !== undefined && { nonce }),
  }
  const attemptId = await recordAttempt(db, attempt, lease)
  if (attemptId === undefined) throw new Outdated()
  return attemptId
}

type Replacing = Replacement & ReturnType<typeof sentAt>

async function signReplacement(
  options: Options,
  db: PoolClient,
  lease: Lease,
  stuck: Attempt,
  { isBurn, cost: _, ...content }: Replacing,
) {
  if (!(await confirmLease(db, lease))) throw new Outdated()
  const swapIds = await findAttemptSwaps(db, stuck.id)
  const signing = {
    ...content,
    role: isBurn ? ('noop' as const) : stuck.role,
    swapIds: isBurn ? [] : swapIds,
    nonce: stuck.nonce,
    replacement: stuck.replacement + 1,
  }
  const signed = await signWith(options, signing)
  await recordSigned(options, db, lease, signing, signed)
  failPoint(`before record ${isBurn ? 'noop' : 'replacement'}`)
  return { ...signed, swapIds }
}

/**
 * Every replacement but a burn does the same thing: this says so, and the write-ahead log shows it. The database does
 * not keep the order of fields.
 */
function effectOf(request: TxRequest): string {
  return createHash('sha256')
    .update(toJson(inOrder(request) as object))
    .digest('hex')
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(fields.map(([name, field]) => [name, inOrder(field)]))
}
