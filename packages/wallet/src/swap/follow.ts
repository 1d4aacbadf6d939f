import { type Client, type EndedSwap, GeoswapError } from '@geoswap/sdk'
import type { Context } from '../context.ts'
import { timeOf, UserError } from '../errors.ts'
import { type Attempt, type Order, swapIdOf } from '../store/journal.ts'
import { idsOf, toEnd } from './claim.ts'
import { whereIsMoney } from './where.ts'

/** Continues an interrupted attempt to the end of its swap. */
export async function followAttempt(context: Context, client: Client, left: Attempt): Promise<EndedSwap> {
  const attempt = left.stage === 'submitting' ? await submitAgain(context, client, left) : left
  const swapId = swapIdOf(attempt)
  if (swapId === undefined)
    throw notSubmitted(attempt, 'This attempt was interrupted before anything was submitted.')
  context.seen.attempt = attempt
  const ended = await followSwap(context, client, { swapId, order: attempt.order })
  context.journal.record(attempt, toEnd(attempt, ended.status))
  return ended
}

export function followSwap(
  context: Context,
  client: Client,
  { swapId, order }: { swapId: string; order?: Order },
): Promise<EndedSwap> {
  const { terminal, interrupts, seen } = context
  seen.swapId = swapId
  return client.waitForSwap(swapId, {
    signal: interrupts.signal,
    onProgress: (swap) => terminal.progress(whereIsMoney(swap, order)),
  })
}

/** The same submission is the same swap, whether it arrived earlier or not. */
async function submitAgain(context: Context, client: Client, left: Attempt): Promise<Attempt> {
  if (left.stage !== 'submitting') return left
  const { journal, interrupts, settings, seen } = context
  seen.attempt = left
  try {
    const { swapId } = await client.submit(left.submission, { signal: interrupts.signal })
    return journal.record(left, { stage: 'submitted', swapId })
  } catch (error) {
    const { status, code } = error instanceof GeoswapError ? error : { status: 0, code: '' }
    const isGone = status === 410
    if (!isGone && !(settings.local && code === 'INVALID_TOKEN')) throw error
    seen.attempt = journal.record(left, toEnd(left, isGone ? 'notSubmitted' : 'lost'))
    throw notSubmitted(left, 'The submission did not arrive in time, so there is no swap, says the service.')
  }
}

export function notSubmitted(attempt: Attempt, message: string): UserError {
  const { lockableUntil } = attempt
  const when = lockableUntil === undefined ? '' : ` The signature can be used until ${timeOf(lockableUntil)}.`
  return new UserError('NOT_SUBMITTED', message, { advice: `Swap again.${when}`, details: idsOf(attempt) })
}
