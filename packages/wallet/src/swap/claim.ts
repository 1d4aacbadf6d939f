import { type Client, GeoswapError, type StatusReply } from '@geoswap/sdk'
import type { Context } from '../context.ts'
import { resumeWith, timeOf, UserError } from '../errors.ts'
import { readAnyInput } from '../families/registry.ts'
import { orNodeFailed } from '../nodes/node.ts'
import {
  type Attempt,
  isOpenEnd,
  isUsable,
  type Order,
  type Outcome,
  standingOf,
  swapIdOf,
} from '../store/journal.ts'

/** A new attempt, or an interrupted one to continue. */
type Claim = { attempt: Attempt; isLeft: boolean }

type Wish = { order: Order; isNew: boolean; rpcUrl: string | undefined }

/** Begins an attempt at an order, unless one is in flight. Of several processes one succeeds. */
export async function claimOrder(context: Context, client: Client, wish: Wish): Promise<Claim> {
  const { journal } = context
  for (;;) {
    const last = journal.findLast(wish.order)
    const isLeft = !wish.isNew && last !== undefined && (await isInFlight(context, client, last))
    if (isLeft) return { attempt: await offer(context, last), isLeft }
    const attempt = journal.begin(wish.order, last, wish.rpcUrl)
    if (attempt) return { attempt, isLeft }
  }
}

type Submitted = Pick<Attempt, 'operation' | 'rpcUrl'> & { swapId: string }

/**
 * Keeps a swap that was submitted without a claim, also if another process begins an attempt meanwhile: what is not
 * swapped can only be sent back with its operation.
 */
export function keepSubmitted(
  { journal }: Pick<Context, 'journal'>,
  order: Order,
  { swapId, operation, rpcUrl }: Submitted,
): Attempt {
  for (;;) {
    const attempt = journal.begin(order, journal.findLast(order), rpcUrl)
    if (attempt) return journal.record(attempt, { stage: 'submitted', swapId, operation })
  }
}

/** Throws if another attempt could become a second swap and nothing can be continued. */
async function isInFlight(context: Context, client: Client, last: Attempt): Promise<boolean> {
  const standing = standingOf(last, context.isAttended)
  if (standing === 'busy') throw busy(last)
  await assertUnusable(context, last)
  if (standing !== 'ask') return standing === 'unknown'
  const status = await findStatus(context, client, last)
  if (status === 'pending') return true
  const ended = context.journal.record(last, toEnd(last, status ?? 'lost'))
  if (status === 'settled') throw settledSince(last)
  await assertUnusable(context, ended)
  context.terminal.note(`The last attempt, ${swapIdOf(last)}, is over: ${status ?? 'its network is gone'}.`)
  return false
}

/**
 * The service says that there is no swap. Until the chain confirms it, a second signature could become a
 * second swap.
 */
async function assertUnusable(context: Context, last: Attempt): Promise<void> {
  if (last.stage !== 'ended' || !(await canBeUsed(context, last))) return
  const until = timeOf(last.lockableUntil ?? 0)
  const message = `The same swap was signed earlier, and that signature can be used until ${until}.`
  throw new UserError('SIGNATURE_OPEN', message, {
    advice: 'Nothing was signed. Try again then. --new signs another one now.',
    details: { ...idsOf(last), until },
  })
}

/** By the origin chain's clock if a node is configured, else by the local clock. */
async function canBeUsed({ settings }: Context, last: Attempt): Promise<boolean> {
  const { operation, order, lockableUntil } = last
  const rpcUrl = settings.rpcUrls[order.from.chainId]
  if (!isOpenEnd(last) || lockableUntil === undefined) return false
  const input = rpcUrl === undefined ? undefined : readAnyInput(operation)
  if (rpcUrl === undefined || !input?.isLockable) return isUsable(last)
  const chain = { chainId: order.from.chainId, name: order.from.chain }
  return orNodeFailed(chain, input.isLockable(rpcUrl))
}

type Status = StatusReply['status']

async function findStatus(context: Context, client: Client, last: Attempt): Promise<Status | undefined> {
  const { settings, interrupts } = context
  try {
    return (await client.status(swapIdOf(last) ?? '', { signal: interrupts.signal })).status
  } catch (error) {
    if (!(error instanceof GeoswapError && error.code === 'SWAP_NOT_FOUND')) throw error
    // A new local network starts empty: swaps and funds of an earlier one are gone.
    if (settings.local) return undefined
    const advice = 'It was made with another API key. --new starts another swap.'
    throw inFlight(last, 'The same swap was interrupted, and the service does not know it.', advice)
  }
}

export function toEnd(attempt: Attempt, outcome: Outcome) {
  return { stage: 'ended', outcome, swapId: swapIdOf(attempt), endedAt: new Date().toISOString() } as const
}

async function offer({ terminal, interrupts }: Context, left: Attempt): Promise<Attempt> {
  const id = swapIdOf(left) ?? left.id
  const isSubmitted = left.stage === 'submitted'
  const message = isSubmitted
    ? `The same swap is in flight: ${id}.`
    : `The same swap was being submitted, and it is unknown whether it was accepted: ${id}.`
  if (terminal.isInteractive && (await terminal.confirm(`${message} Continue it?`, interrupts.signal)))
    return left
  throw inFlight(left, message, `${resumeWith(id)} continues it. --new starts another one.`)
}

function busy(last: Attempt): UserError {
  const message = `Another geoswap, process ${last.owner.pid}, works on the same swap.`
  return inFlight(last, message, 'Wait for it. --new starts another one.')
}

function inFlight(last: Attempt, message: string, advice: string): UserError {
  return new UserError('SWAP_IN_FLIGHT', message, { advice, details: idsOf(last) })
}

/** Reported once, because the user may take the second run for the first. */
function settledSince(last: Attempt): UserError {
  const message = `The same swap was interrupted and has settled since: ${swapIdOf(last)}.`
  return new UserError('SWAP_ENDED', message, {
    advice: 'Run the command again for another one.',
    details: idsOf(last),
  })
}

export function idsOf(attempt: Attempt | undefined): { attempt?: string; swapId?: string } {
  if (attempt === undefined) return {}
  const swapId = swapIdOf(attempt)
  return swapId === undefined ? { attempt: attempt.id } : { attempt: attempt.id, swapId }
}
