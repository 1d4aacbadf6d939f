import type { Pool, PoolClient } from 'pg'
import type { Chain, Heads, Replacement, Signed, SigningTerms, TxRequest } from '../chains/chain.ts'
import { failPoint } from '../fail-point.ts'
import {
  type Attempt,
  FIRST_MINED,
  findAttemptSwaps,
  findRecordedNonces,
  type Role,
  recordAttempt,
} from '../store/attempts.ts'
import { Outdated, unlessOutdated } from '../store/db.ts'
import type { WastedGas } from '../store/gas.ts'
import { confirmLease, type Lease } from '../store/lanes.ts'
import { sharedReadsOf } from '../store/shared-reads.ts'
import { minedRecheckMs } from '../swap/pace.ts'
import {
  type BroadcastEvents,
  type Broadcaster,
  createBroadcaster,
  findUnseen,
  isReadingDue,
} from './broadcaster.ts'
import { createGapWatch, createNonces, effectHash, findGap } from './nonces.ts'
import { newlyOver, recordOutcomes } from './record-outcomes.ts'
import { chooseReplacement, findStuck, type IsClaimable, isDue, type Stuck } from './replacement.ts'

type SendingChain = Pick<
  Chain,
  | ('chainId' | 'hasNonces' | 'readTerms' | 'boundTerms' | 'sign')
  | ('simulate' | 'fits' | 'broadcast' | 'readOutcomes' | 'offerReplacements' | 'isSignedFor' | 'readCoins')
>

type Options = {
  pool: Pool
  chain: SendingChain
  address: string
  maxInFlight: number
  isClaimable: IsClaimable
  /** The gas that attempts without effect cost. Default: none is looked for. */
  readWasted?(over: readonly Attempt[]): Promise<WastedGas[]>
  events: SenderEvents
}

/** Told for logs and metrics. */
type SenderEvents = BroadcastEvents & {
  onSent(sent: { role: Role; swapIds: readonly string[]; txHash: string }): void
  onReplaced(replaced: { attempt: Attempt; swapIds: readonly string[]; by: string }): void
}

/** A transaction to send, and the database changes to commit together with its signed bytes. */
export type Work = {
  role: Role
  request: TxRequest
  swapIds: readonly string[]
  /** The highest price of a unit of gas, all fees included; 0 or absent if unbounded. */
  feeBound?: bigint
  /** False rolls everything back: the swaps moved on meanwhile, and nothing is signed or sent. */
  record(db: PoolClient, recorded: { attemptId: string; txHash: string }): Promise<boolean>
}

export type Sender = {
  address: string
  /** How many more transactions may be in flight. */
  room(): number
  /** The terms on which a transaction would be sent now. */
  termsAt(heads: Heads): Promise<SigningTerms>
  /** Whether a transaction sent now would stay within this fee bound. */
  affords(heads: Heads, feeBound: bigint): Promise<boolean>
  /** Whether a block has room for this request at the current terms. */
  fits(heads: Heads, request: TxRequest): Promise<boolean>
  /** Whether this request would succeed now, sent by this key. */
  simulates(heads: Heads, request: TxRequest): Promise<boolean>
  /** False if nothing was signed: the fee is above the bound, the request fits in no block, or the work is outdated. */
  send(lease: Lease, heads: Heads, work: Work): Promise<boolean>
  /** Reads outcomes, broadcasts again and replaces. False if this key has had no open transaction for a while. */
  followUp(lease: Lease, heads: Heads): Promise<boolean>
  /** Whether nodes refused a transaction since the last follow-up, which then must not wait for the next block. */
  isRefused(): boolean
}

// A key without open transactions is checked again this often: the previous worker may have committed late.
const IDLE_CHECK_MS = 5_000
// Such a key's nonce on the chain is read less often: only another user of the key could have advanced it.
const NONCE_CHECK_MS = 300_000
const NEVER = Number.NEGATIVE_INFINITY

/** Sends one key's transactions. Records each before it is sent, and broadcasts it until the chain has decided. */
export function createSender(options: Options): Sender {
  const { pool, chain, address } = options
  const key = { chainId: chain.chainId, address }
  const termsAt = createTermsMemo(chain)
  const checks = createChecks(options, termsAt)
  const broadcaster = createBroadcaster(options)
  const nonces = createNonces(pool, key)
  const findLastingGap = createGapWatch()
  let inFlight = Number.POSITIVE_INFINITY // unknown until the first follow-up
  let idleUntil = 0 // no transaction of this key is open until then
  let seen: Seen = { hard: '', at: NEVER, readAt: NEVER, finals: 0 }
  let sent = 0 // counts sends, because a follow-up runs beside them

  async function send(lease: Lease, heads: Heads, { feeBound = 0n, ...work }: Work): Promise<boolean> {
    const terms = boundBy(chain, await termsAt(heads), feeBound)
    if (!terms || chain.fits?.(work.request, terms) === false) return false
    const signing = { ...work, ...sentAt(heads), replacement: 0, terms }
    const sign = (nonce?: number) => signAndRecord(options, lease, { ...signing, nonce })
    const signed = await (chain.hasNonces ? nonces.take(sign) : sign())
    if (!signed) return false
    if (inFlight === 0) seen = { ...seen, at: performance.now() }
    sent += 1
    inFlight += 1
    idleUntil = 0
    await sendRecorded(broadcaster, work.role, signed)
    options.events.onSent({ role: work.role, swapIds: work.swapIds, txHash: signed.txHash })
    return true
  }

  async function followUp(lease: Lease, heads: Heads): Promise<boolean> {
    const now = performance.now()
    if (now < idleUntil) return false
    if (inFlight === 0 && isQuiet(seen, heads)) return true
    const before = sent
    const open = await sharedReadsOf(pool).openAttempts(key)
    const isIdle = open.length === 0 && inFlight === 0
    if (isIdle) idleUntil = now + IDLE_CHECK_MS
    if (isIdle && now - seen.readAt < NONCE_CHECK_MS) {
      seen = { ...seen, at: now }
      return false
    }
    const found = await findUnseen(pool, chain.chainId, open)
    if (isQuiet(seen, heads) && !isReadingDue(open, found, heads, broadcaster)) {
      inFlight = found.unseen.length + sent - before
      const policies = await broadcaster.repeat(found.unseen)
      if (![...policies.values()].includes('cancel')) return true
    }
    const outcomes = await chain.readOutcomes(address, open, heads)
    await nonces.raise(outcomes.nextNonce)
    await recordOutcomes(pool, open, outcomes, heads, await options.readWasted?.(newlyOver(outcomes)))
    inFlight = outcomes.unmined.length + sent - before
    seen = { hard: heads.hard.hash, at: now, readAt: now, finals: outcomes.final.length }
    idleUntil = open.length === 0 && sent === before ? performance.now() + IDLE_CHECK_MS : 0
    const policies = await broadcaster.repeat(outcomes.unmined)
    const deps = { options, broadcaster, lease, heads }
    for (const stuck of findStuck(outcomes.unmined, policies, broadcaster.refusalOf))
      await replaceIfDue(deps, stuck, await termsAt(heads, stuck.isRefused))
    const missing = chain.hasNonces ? findLastingGap(findGap(outcomes), heads.head.number) : []
    if (missing.length > 0) await fillGap(deps, outcomes.unmined, missing, await termsAt(heads))
    return true
  }

  const room = () => Math.max(0, options.maxInFlight - inFlight)
  return { address, room, send, followUp, isRefused: broadcaster.isRefused, ...checks }
}

type TermsAt = ReturnType<typeof createTermsMemo>

/** Checks of a transaction as it would be sent now. */
function createChecks({ chain, address: sender }: Options, termsAt: TermsAt) {
  return {
    termsAt: (heads: Heads) => termsAt(heads),
    affords: async (heads: Heads, feeBound: bigint) =>
      boundBy(chain, await termsAt(heads), feeBound) !== undefined,
    fits: async (heads: Heads, request: TxRequest) => chain.fits?.(request, await termsAt(heads)) ?? true,
    simulates: async (heads: Heads, request: TxRequest) =>
      (await chain.simulate?.(request, { sender, terms: await termsAt(heads) })) ?? true,
  }
}

/** The last reading of the chain: when it was, its final block, and how many attempts were final. */
type Seen = {
  readAt: number
  hard: string
  finals: number
  /** When nothing new could be read last: at that reading, or later while nothing was in flight. */
  at: number
}

/** A full page of final attempts may have successors: they are read at the next head. */
function isQuiet({ hard: seenHard, at, readAt, finals }: Seen, { head, hard }: Heads): boolean {
  const now = performance.now()
  if (finals >= FIRST_MINED || now - readAt >= NONCE_CHECK_MS) return false
  return now - at < minedRecheckMs(hard.hash !== seenHard, Number(head.number - hard.number))
}

/**
 * Signs before the database transaction begins, which must not wait for a signer, and records the bytes if their nonce
 * is still the next one. Undefined, with nothing recorded, if it is not, or if the work is outdated.
 */
async function signAndRecord(
  options: Options,
  lease: Lease,
  { record, ...signing }: Signing & Pick<Work, 'record'>,
): Promise<Signed | undefined> {
  const signed = await signWith(options, signing)
  return unlessOutdated(options.pool, async (db) => {
    const attemptId = await recordSigned(options, db, lease, signing, signed)
    if (!(await record(db, { attemptId, txHash: signed.txHash }))) throw new Outdated()
    failPoint(`before record ${signing.role}`)
    return signed
  })
}

const sentAt = ({ head }: Heads) => ({ sentAtBlock: head.number, sentAtSeconds: head.seconds })

type Replaced = { options: Options; broadcaster: Broadcaster; lease: Lease; heads: Heads }

/** Replaces a stuck transaction with a higher fee or with a no-op, if the chain supports replacement. */
async function replaceIfDue(deps: Replaced, stuck: Stuck<Attempt>, terms: SigningTerms): Promise<void> {
  const { options, broadcaster, lease, heads } = deps
  const { pool, chain, address, events } = options
  const { attempt } = stuck
  const replacement = await planReplacement(deps, stuck, terms)
  // Do not raise fees that the key cannot pay: each raise would cost more once the key is funded.
  if (!replacement || replacement.cost > (await chain.readCoins(address, heads.head))) return
  const swapIds = await findAttemptSwaps(pool, attempt.id)
  const signed = await signReplacement(options, lease, attempt, { ...replacement, ...sentAt(heads), swapIds })
  if (!signed) return
  events.onReplaced({ attempt, swapIds, by: signed.txHash })
  await sendRecorded(broadcaster, stepOf(replacement), signed)
}

/**
 * Burns free nonces below ours, without which ours are never mined. A transaction that the database does not know had
 * them until a reorg undid it. Nodes refuse the burn of a nonce that is used after all.
 */
async function fillGap(
  { options, broadcaster, lease, heads }: Replaced,
  unmined: readonly Attempt[],
  missing: readonly number[],
  terms: SigningTerms,
): Promise<void> {
  const { pool, chain, address } = options
  const recorded = await findRecordedNonces(pool, { chainId: chain.chainId, address }, missing)
  const [behind] = unmined
  const offers = behind && chain.offerReplacements?.(behind, terms)
  if (!behind || !offers || offers.noop.cost > (await chain.readCoins(address, heads.head))) return
  for (const nonce of missing.filter((each) => !recorded.has(each))) {
    const free = { ...behind, nonce, replacement: 0 }
    const burn = { ...offers.noop, ...sentAt(heads), swapIds: [] }
    const signed = await signReplacement(options, lease, free, burn)
    if (signed) await sendRecorded(broadcaster, 'noop', signed)
  }
}

/** Named for tests of crashes. */
const stepOf = (replacement: Pick<Replacement, 'isBurn'>) => (replacement.isBurn ? 'noop' : 'replacement')

async function planReplacement(
  { options, broadcaster, heads }: Replaced,
  stuck: Stuck<Attempt>,
  terms: SigningTerms,
): Promise<Replacement | undefined> {
  const { chain, address } = options
  const { attempt, isUnwanted } = stuck
  const offers = chain.offerReplacements?.(attempt, terms)
  if (!offers || !isDue(stuck, heads, offers)) return undefined
  if (isUnwanted) return offers.noop
  const policy = (await broadcaster.readPolicies([attempt])).get(attempt.id)
  const replacement = policy && chooseReplacement(attempt, policy, offers)
  if (!replacement || replacement.isBurn) return replacement
  // A key signs a stored request again only if it matches the bytes that the key signed before.
  const isOurs = await chain.isSignedFor?.(attempt.request, { raw: attempt.raw, sender: address })
  return isOurs ? replacement : offers.noop
}

const boundBy = (chain: SendingChain, terms: SigningTerms, feeBound: bigint) =>
  feeBound > 0n && chain.boundTerms ? chain.boundTerms(terms, feeBound) : terms

/** Reads terms once per head, and again after a refusal. */
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

type Signing = Pick<Work, 'role' | 'request' | 'swapIds'> & {
  nonce: number | undefined
  replacement: number
  terms: SigningTerms
  sentAtBlock: bigint
  sentAtSeconds: number
}

function signWith({ chain, address }: Options, { request, terms, nonce }: Signing) {
  return chain.sign(request, { sender: address, terms, nonce })
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
    effectHash: effectHash(signing.request),
    ...(nonce !== undefined && { nonce }),
  }
  const attemptId = await recordAttempt(db, attempt, lease)
  if (attemptId === undefined) throw new Outdated()
  return attemptId
}

type Replacing = Replacement & ReturnType<typeof sentAt> & Pick<Work, 'swapIds'>

/** Undefined, with nothing recorded, if another worker has taken the lane. */
async function signReplacement(
  options: Options,
  lease: Lease,
  stuck: Attempt,
  { isBurn, cost: _, swapIds, ...content }: Replacing,
): Promise<Signed | undefined> {
  const signing = {
    ...content,
    role: isBurn ? ('noop' as const) : stuck.role,
    swapIds: isBurn ? [] : swapIds,
    nonce: stuck.nonce,
    replacement: stuck.replacement + 1,
  }
  const signed = await signWith(options, signing)
  return unlessOutdated(options.pool, async (db) => {
    if (!(await confirmLease(db, lease))) throw new Outdated()
    await recordSigned(options, db, lease, signing, signed)
    failPoint(`before record ${stepOf({ isBurn })}`)
    return signed
  })
}
