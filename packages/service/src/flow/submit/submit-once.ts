import { randomBytes } from 'node:crypto'
import type { SubmitReply } from '@geoswap/wire'
import type { Pool } from 'pg'
import { ServiceError } from '../../errors.ts'
import { failPoint } from '../../fail-point.ts'
import type { Paid } from '../../model/follow-price.ts'
import {
  type Allowance,
  allowanceOf,
  assertAllowed,
  beyondAllowance,
  type KeyRules,
} from '../../model/key-rules.ts'
import { publicStatus } from '../../model/lifecycle.ts'
import type { SignedDelegation } from '../../model/swap.ts'
import { type Db, inTransaction } from '../../store/db.ts'
import { readSpentCents, spendOfDay } from '../../store/key-spending.ts'
import { OP_KEPT_MS } from '../../store/retention.ts'
import {
  endOp,
  findSubmission,
  insertSwap,
  lockSubmission,
  readMostInput,
  reserveInventory,
  type Submission,
} from '../../store/submissions.ts'

/** The wallet's signature, in its stored form. */
type Signing = { signature: string; lastValid?: bigint; delegation?: SignedDelegation }

export type Caller = { accountId: string; keyId: string; rules: KeyRules }

export type Submitted = {
  /** The key that submits, with its own limits. */
  caller: Pick<Caller, 'keyId' | 'rules'>
  opId: string
  /** When the signed content expires, at the latest with the op: milliseconds by the database's clock. */
  expiresAt: number | undefined
  /** Whether the chain no longer accepts the signed content, whatever the time. */
  isOver: boolean
  /** Checks state that may have changed since the build; skipped for an existing swap. */
  recheck(submission: Submission): Promise<void>
  /** The payment of the swap after a move of the market; `moved` if that is too little, undefined without a price. */
  paidNow(submission: Submission): Paid | 'moved' | undefined
  /** Throws unless the wallet signed the built content. */
  verify(submission: Submission): Promise<Signing>
}

type Existing = NonNullable<Submission['existing']>

/** Stores the swap, once per quote, and returns it. Reports every problem before anything is stored. */
export async function submitOnce(pool: Pool, submitted: Submitted): Promise<SubmitReply> {
  const submission = await findSubmission(pool, submitted)
  if (!submission) throw unknownOp(submitted)
  if (submission.existing) return answerExisting(submitted, submission, submission.existing)
  if (!submission.expired && !submitted.isOver) {
    assertRules(submitted, submission)
    await submitted.recheck(submission)
    assertBalance(submission)
    const reply = await store(pool, submitted, await submitted.verify(submission))
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
  return toReply(existing)
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
async function store(pool: Pool, submitted: Submitted, signing: Signing): Promise<SubmitReply | undefined> {
  const { opId, expiresAt } = submitted
  const swapId = `swp_${randomBytes(16).toString('hex')}`
  const reply = await inTransaction(pool, async (db) => {
    await lockSubmission(db, opId)
    const current = await findSubmission(db, submitted)
    if (!current) throw unknownOp(submitted)
    if (current.existing) return toReply(current.existing)
    assertBalance(current)
    const lowered = loweredOf(submitted, current)
    if (!(await insertSwap(db, { swapId, opId, expiresAt, lowered, ...signing }))) return undefined
    await spend(db, submitted, current)
    // A deposit reserves its output when it arrives: nobody holds back liquidity for nothing.
    if (current.method !== 'deposit' && !(await reserveInventory(db, opId)))
      throw liquidityGone(await readMostInput(db, opId))
    failPoint('before accept')
    return { swapId, status: 'pending' as const }
  })
  failPoint('after accept')
  return reply
}

/**
 * The payment after a move of the market, if it is below the quoted one. Below the minimum the swap is declined before
 * the lock, and a deposit is priced when it arrives.
 */
function loweredOf({ paidNow }: Submitted, submission: Submission): Paid | undefined {
  const paid = submission.method === 'deposit' ? undefined : paidNow(submission)
  if (paid === undefined || paid === 'moved') return undefined
  return paid.output < submission.quotedOutput ? paid : undefined
}

/** Refuses what the submitting key may not do, whichever key asked for the quote. */
function assertRules({ caller: { rules } }: Submitted, submission: Submission): void {
  assertAllowed(rules, submission)
  const allowance = allowanceOf(rules, 0n)
  if (allowance && submission.valueCents > allowance.cents) throw tooValuable(allowance, submission)
}

/** Counts the swap for the day of its key, in the transaction of the swap. It counts until the day ends. */
async function spend(db: Db, { caller }: Submitted, submission: Submission): Promise<void> {
  const { keyId, rules } = caller
  if (rules.maxDayCents === undefined) return
  const cents = submission.valueCents
  if (await spendOfDay(db, { keyId, cents, maxCents: BigInt(rules.maxDayCents) })) return
  const allowance = allowanceOf(rules, await readSpentCents(db, keyId))
  if (allowance) throw tooValuable(allowance, submission)
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

function assertBalance({ walletBalance, openInputs, inputAmount, originChain, method }: Submission): void {
  // Anybody may pay for a deposit.
  if (method === 'deposit') return
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

function toReply({ swapId, state }: Existing): SubmitReply {
  return { swapId, status: publicStatus(state) }
}
