import { randomBytes } from 'node:crypto'
import type { SubmitReply } from '@geoswap/wire'
import type { Pool } from 'pg'
import { ServiceError } from '../../errors.ts'
import { failPoint } from '../../fail-point.ts'
import type { Screening } from '../../screen/denials.ts'
import { readSpentCents, readWalletCents, spendOfDay } from '../../store/api-keys.ts'
import { type Db, inTransaction } from '../../store/db.ts'
import { readOpenRisks, readWasted } from '../../store/gas.ts'
import { OP_KEPT_MS } from '../../store/retention.ts'
import {
  endOp,
  findSubmission,
  insertSwap,
  lockSubmission,
  lockWallet,
  readMostInput,
  readReserved,
  reserveInventory,
  type Submission,
} from '../../store/submissions.ts'
import { largest } from '../../swap/amount.ts'
import {
  findExceeded,
  type GasBudgets,
  gasWasted,
  hasRoomForLock,
  isSmall,
  locksPending,
  type ReservationShares,
  roomAfter,
} from '../../swap/budgets.ts'
import {
  type Allowance,
  allowanceOf,
  assertAllowed,
  beyondAllowance,
  contractRefused,
  type KeyRules,
  mayUseContracts,
} from '../../swap/key-rules.ts'
import { publicStatus } from '../../swap/lifecycle.ts'
import { assertServed, partiesOf } from '../../swap/parties.ts'
import type { Paid } from '../../swap/pricing.ts'
import type { SignedDelegation } from '../../swap/swap.ts'
import { isSent } from '../../ways/registry.ts'

/** The wallet's signature, in its stored form. */
type Signing = { signature: string; lastValid?: bigint; delegation?: SignedDelegation }

/** Limits on liquidity and gas before an input is locked. */
export type Limits = {
  reservations: ReservationShares
  gas: GasBudgets
  /** The cost of a lock on a chain in millionths of a US dollar; undefined while it is not known. */
  lockUsdE6(chainId: number): bigint | undefined
}

export type SubmitOnceDeps = {
  pool: Pool
  limits: Limits
  /** Whether the parties of a swap are served. Absent if everybody is. */
  screening?: Pick<Screening, 'ofCaller'> | undefined
  /** The payment of the swap after a move of the market; `moved` if that is too little, undefined without a price. */
  paidNow(submission: Submission): Paid | 'moved' | undefined
}

export type Caller = {
  accountId: string
  keyId: string
  kind?: 'secret' | 'publishable'
  rules: KeyRules
}

export type Submitted = {
  /** The key that submits, with its own limits. */
  caller: Pick<Caller, 'keyId' | 'kind' | 'rules'>
  opId: string
  /** When the signed content expires, at the latest with the op: milliseconds by the database's clock. */
  expiresAt: number | undefined
  /** Whether the chain no longer accepts the signed content, whatever the time. */
  isOver: boolean
  /** Checks state that may have changed since the build; skipped for an existing swap. */
  recheck(submission: Submission): Promise<void>
  /** Throws unless the wallet signed the built content. */
  verify(submission: Submission): Promise<Signing>
}

type Existing = NonNullable<Submission['existing']>

/** Stores the swap, once per quote, and returns it. Reports every problem before anything is stored. */
export async function submitOnce(deps: SubmitOnceDeps, submitted: Submitted): Promise<SubmitReply> {
  const { pool } = deps
  const submission = await findSubmission(pool, submitted)
  if (!submission) throw unknownOp(submitted)
  if (submission.existing) return answerExisting(submitted, submission, submission.existing)
  if (!submission.expired && !submitted.isOver) {
    assertRules(submitted, submission)
    await submitted.recheck(submission)
    await assertScreened(deps, submission)
    assertBalance(submission)
    const reply = await store(deps, submitted, await submitted.verify(submission))
    if (reply) return reply
  }
  return answerExpired(pool, submitted)
}

async function answerExisting(
  submitted: Submitted,
  submission: Submission,
  existing: Existing,
): Promise<SubmitReply> {
  await submitted.verify(submission)
  return toReply(submission, existing)
}

/** Answers 410 only if no swap can follow: waits for an insert that began in time and may still commit. */
async function answerExpired(pool: Pool, submitted: Submitted): Promise<SubmitReply> {
  const settled = await inTransaction(pool, async (db) => {
    await lockSubmission(db, submitted.opId)
    const current = await findSubmission(db, submitted)
    // Another process may know an older block: an expired op stays expired.
    if (!current?.existing && submitted.isOver) await endOp(db, submitted.opId)
    return current
  })
  if (settled?.existing) return answerExisting(submitted, settled, settled.existing)
  throw new ServiceError('OPERATION_EXPIRED')
}

/** Undefined if the op expired before the insert. */
async function store(
  deps: SubmitOnceDeps,
  submitted: Submitted,
  signing: Signing,
): Promise<SubmitReply | undefined> {
  const { pool, limits } = deps
  const { opId, expiresAt } = submitted
  const swapId = `swp_${randomBytes(16).toString('hex')}`
  const reply = await inTransaction(pool, async (db) => {
    await lockSubmission(db, opId)
    const current = await findSubmission(db, submitted)
    if (!current) throw unknownOp(submitted)
    if (current.existing) return toReply(current, current.existing)
    assertBalance(current)
    await assertGas(db, limits, current)
    await assertDayOfWallet(db, submitted, current)
    const lowered = loweredOf(deps, current)
    const spending = isSent(current) ? spendingOf(submitted) : undefined
    if (!(await insertSwap(db, { swapId, opId, expiresAt, lowered, spending, ...signing }))) return undefined
    // A sent input counts and reserves when it arrives: nobody uses up a limit or holds back liquidity for nothing.
    if (isSent(current)) await assertDay(db, submitted, current)
    else {
      await spend(db, submitted, current)
      await reserve(db, limits, current)
    }
    failPoint('before accept')
    return { swapId, status: 'pending' as const, externalId: current.externalId }
  })
  failPoint('after accept')
  return reply
}

/** Refuses work for those who wasted too much gas in this hour, or whose open locks may do so now. */
async function assertGas(db: Db, { gas, lockUsdE6 }: Limits, submission: Submission): Promise<void> {
  const { originChain, destinationChain, isContract, opensAccount } = submission
  const { wasted, hourLeftMs } = await readWasted(db, {
    ...submission,
    chains: [originChain, destinationChain],
  })
  const exceeded = findExceeded(gas, wasted, isContract)
  if (exceeded) throw gasWasted(exceeded, hourLeftMs)
  if (!isContract && !opensAccount) return
  const open = await readOpenRisks(db, submission)
  const atRisk = { ...open, lockUsdE6: lockUsdE6(originChain) }
  if (!hasRoomForLock(gas, wasted, atRisk)) throw locksPending()
}

/** Reserves the output, of which a wallet or account without a lock gets a share. */
async function reserve(db: Db, { reservations }: Limits, { opId, inputAmount }: Submission) {
  const made = await reserveInventory(db, opId)
  if (!made) throw liquidityGone(await readMostInput(db, opId))
  if (isSmall(reservations, made)) return
  const room = roomAfter(reservations, await readReserved(db, opId))
  if (room < 0n) throw liquidityGone((inputAmount * largest(made.amount + room, 0n)) / made.amount)
}

/**
 * The payment after a move of the market, if it is below the quoted one. Below the minimum the swap is declined before
 * the lock, and a deposit is priced when it arrives.
 */
function loweredOf({ paidNow }: SubmitOnceDeps, submission: Submission): Paid | undefined {
  const paid = isSent(submission) ? undefined : paidNow(submission)
  if (paid === undefined || paid === 'moved') return undefined
  return paid.output < submission.quotedOutput ? paid : undefined
}

/** Refuses what the submitting key may not do, whichever key asked for the quote. */
function assertRules({ caller }: Submitted, submission: Submission): void {
  const { rules } = caller
  if (submission.isContract && !mayUseContracts(caller)) throw contractRefused()
  assertAllowed(rules, submission)
  const allowance = allowanceOf(rules, 0n)
  if (allowance && submission.valueCents > allowance.cents) throw tooValuable(allowance, submission)
}

function spendingOf({ caller: { keyId, rules } }: Submitted) {
  return rules.maxDayCents === undefined ? undefined : { keyId, maxCents: BigInt(rules.maxDayCents) }
}

async function assertScreened({ screening }: SubmitOnceDeps, submission: Submission): Promise<void> {
  if (!screening) return
  const { accountId } = submission
  assertServed(await screening.ofCaller(partiesOf(submission), { point: 'submit', accountId }))
}

/** Counts the swap for the day of its key, in the transaction of the swap. It counts until the day ends. */
async function spend(db: Db, submitted: Submitted, submission: Submission): Promise<void> {
  const spending = spendingOf(submitted)
  const isSpent = spending && (await spendOfDay(db, { ...spending, cents: submission.valueCents }))
  if (isSpent === false) await assertDay(db, submitted, submission)
}

/** Refuses what the day of the key does not leave enough for. */
async function assertDay(db: Db, { caller }: Submitted, submission: Submission): Promise<void> {
  const { keyId, rules } = caller
  if (rules.maxDayCents === undefined) return
  const allowance = allowanceOf(rules, await readSpentCents(db, keyId))
  if (allowance && submission.valueCents > allowance.cents) throw tooValuable(allowance, submission)
}

/** Refuses what the day of the wallet does not leave enough for. Submissions of one wallet take turns. */
async function assertDayOfWallet(db: Db, { caller }: Submitted, submission: Submission): Promise<void> {
  const { maxWalletDayCents } = caller.rules
  if (maxWalletDayCents === undefined) return
  await lockWallet(db, submission)
  const allowance = allowanceOf({ maxWalletDayCents }, 0n, await readWalletCents(db, submission))
  if (allowance && submission.valueCents > allowance.cents) throw tooValuable(allowance, submission)
}

/** Names the largest input at the op's own price: the market may have moved since the quote. */
function tooValuable(allowance: Allowance, { inputAmount, valueCents }: Submission): ServiceError {
  return beyondAllowance(allowance, (inputAmount * allowance.cents) / valueCents)
}

/** Unsubmitted ops are deleted long after they expire. A younger op that is missing is not one of ours. */
function unknownOp({ expiresAt = Number.POSITIVE_INFINITY }: Submitted): ServiceError {
  const isCleared = Date.now() - expiresAt > OP_KEPT_MS
  return new ServiceError(isCleared ? 'OPERATION_EXPIRED' : 'INVALID_TOKEN')
}

function liquidityGone(mostInput: bigint): ServiceError {
  const isEmpty = mostInput === 0n
  return new ServiceError('INSUFFICIENT_LIQUIDITY', {
    message: isEmpty
      ? 'Other swaps took the liquidity since the quote. Request a fresh quote later.'
      : 'Other swaps took most of the liquidity since the quote. Request a fresh one, of at most recovery.maxAmount.',
    recovery: {
      maxAmount: mostInput.toString(),
      ...(isEmpty && { action: 'RETRY_LATER', retryAfterMs: 5_000 }),
    },
  })
}

function assertBalance(submission: Submission): void {
  // Anybody may send a deposit.
  if (isSent(submission)) return
  const { walletBalance, openInputs, inputAmount, originChain } = submission
  if (openInputs + inputAmount <= walletBalance) return
  const details = {
    balance: walletBalance.toString(),
    open: openInputs.toString(),
    required: inputAmount.toString(),
  }
  throw new ServiceError('INSUFFICIENT_BALANCE', {
    message: "The wallet's other open swaps already use its balance of the input token.",
    details,
    recovery: { chainId: originChain, ...details },
  })
}

function toReply({ externalId }: Submission, { swapId, state }: Existing): SubmitReply {
  return { swapId, status: publicStatus(state), externalId }
}
