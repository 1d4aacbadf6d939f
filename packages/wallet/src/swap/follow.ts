import { type Client, type EndedSwap, GeoswapError, type StatusReply } from '@geoswap/sdk'
import type { Context } from '../context.ts'
import { timeOf, UserError } from '../errors.ts'
import { money } from '../order.ts'
import { type Attempt, type Order, swapIdOf } from '../store/journal.ts'
import { idsOf, toEnd } from './claim.ts'

type Swap = Pick<StatusReply, 'status' | 'substatus' | 'originChain' | 'destinationChain' | 'amounts'> &
  Pick<StatusReply, 'originTxHash' | 'deliveryTxHash' | 'refund' | 'deposit'>

/** Says where the money of a swap is now. Without its order the amounts have no units, and are left out. */
export function whereIsMoney(swap: Swap, order: Order | undefined): string {
  const { input, holder, output, recipient } = namesOf(swap, order)
  const { originTxHash, deliveryTxHash, refund, deposit } = swap
  switch (swap.substatus) {
    case 'awaitingDeposit':
      return `waiting for ${input} at ${deposit?.address ?? 'the address of the operation'}`
    case 'accepted':
      return `accepted: ${input} is still ${deposit ? `at ${deposit.address}` : 'in the wallet'}`
    case 'locking':
      return `locking ${input}${inTx(originTxHash)}`
    case 'locked':
      return `${input} is locked at ${holder}${inTx(originTxHash)}`
    case 'delivering':
      return `${input} is locked at ${holder}; delivering ${output}${inTx(deliveryTxHash)}`
    case 'delivered':
      return `${output} was delivered to ${recipient}${inTx(deliveryTxHash)}`
    case 'refunding':
      return `${input} is locked at ${holder} and goes back to the wallet${inTx(refund?.txHash)}`
    case 'refundBlocked':
      return `${input} is locked at ${holder}; the refund to the wallet has to wait`
    case 'refunded':
      return refund?.credited
        ? `${input} is at ${holder} for the wallet to withdraw${inTx(refund.txHash)}`
        : `${input} was refunded to the wallet${inTx(refund?.txHash)}`
    case 'failed':
      return deposit?.received ? failedDeposit(deposit) : `failed: ${input} never left the wallet`
  }
}

function namesOf({ amounts, originChain, destinationChain }: Swap, order: Order | undefined) {
  const style = { raw: false }
  const input = order ? money(amounts.input, order.from, style) : `the input on chain ${originChain}`
  const output = order ? money(dueOf(amounts), order.to, style) : `the output on chain ${destinationChain}`
  const chain = order?.from.chain ?? `chain ${originChain}`
  const recipient = order?.recipient ?? 'the recipient'
  return { input, output, recipient, holder: `the escrow of ${chain}` }
}

/** A premium that comes back raises the output; a market that moved lowers it. */
const dueOf = ({ delivered, repriced, riskPremium, quotedOutput }: Swap['amounts']): string =>
  delivered ?? repriced?.output ?? riskPremium?.output ?? quotedOutput

function inTx(hash: string | undefined): string {
  return hash === undefined ? '' : ` in tx ${hash}`
}

/** A deposit that was not swapped goes back to the wallet, by the service or by `geoswap recover`. */
function failedDeposit({ address, returned }: NonNullable<StatusReply['deposit']>): string {
  const last = returned?.at(-1)
  if (last) return `failed: the deposit went back to the wallet${inTx(last.txHash)}`
  return `failed: the deposit at ${address} goes back to the wallet`
}

/** Shows each change of a swap as it happens. */
export function createWatch({ terminal, interrupts }: Context, client: Client, order: Order) {
  const stop = new AbortController()
  let isLive = false

  async function show(swapId: string): Promise<void> {
    const signal = AbortSignal.any([stop.signal, interrupts.signal])
    for await (const { swap } of client.events(swapId, { signal })) {
      if (!signal.aborted) terminal.progress(whereIsMoney(swap, order))
    }
  }

  return {
    isLive: () => isLive,
    /** The swap is followed by reads as well, so without the stream only fewer changes are seen. */
    start(swapId: string): void {
      isLive = true
      const end = () => {
        isLive = false
      }
      show(swapId).then(end, end)
    },
    stop: () => stop.abort(),
  }
}

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
