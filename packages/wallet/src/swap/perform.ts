import {
  type Client,
  type EndedSwap,
  type EvmSigner,
  fromViemWallet,
  GeoswapError,
  type OriginMethod,
  type QuoteReply,
  type SwapProgress,
} from '@geoswap/sdk'
import { isSentMethod } from '@geoswap/wire/names'
import { createWalletClient, http, zeroAddress } from 'viem'
import { type Context, nodeOf } from '../context.ts'
import { UserError } from '../errors.ts'
import { toAccount } from '../families/evm.ts'
import { type Key, toSigner } from '../keys.ts'
import { type Chain, orNodeFailed } from '../nodes/node.ts'
import { impactOf, orderLines, quoteLine, type ReadyOrder, type Style } from '../order.ts'
import { getRpcUrl } from '../settings.ts'
import type { Attempt } from '../store/journal.ts'
import { unlockWallet } from '../wallets.ts'
import { toEnd } from './claim.ts'
import { createWatch, whereIsMoney } from './follow.ts'
import { fillLocalWallet } from './local-wallet.ts'
import { hasHighImpact, isUnbounded, withWorkingAmount } from './quote.ts'

type Options = Style & {
  /** How the input comes in. Default: the best way that the wallet has. */
  method?: OriginMethod | undefined
  acceptsImpact: boolean
  /** Called with every quote before anything is signed for it. Throws to refuse it. */
  approve?: (quote: QuoteReply) => void
}

/** Performs the swap and writes each step to the journal before the next one. */
export async function performSwap(
  context: Context,
  client: Client,
  ready: ReadyOrder,
  { attempt, ...options }: Options & { attempt: Attempt },
): Promise<EndedSwap> {
  context.seen.attempt = attempt
  const watch = createWatch(context, client, ready.order)
  try {
    for (const line of orderLines(ready.order)) context.terminal.note(line)
    const key = await unlockWallet(context, ready.wallet)
    const signer =
      options.method && isSentMethod(options.method)
        ? await toPayer(context, key, ready)
        : await toSigner(key)
    const ended = await client.swap(ready.request, signer, {
      ...ready.limits,
      method: options.method,
      signal: context.interrupts.signal,
      async confirm(quote) {
        options.approve?.(quote)
        context.terminal.note(`to be signed: ${quoteLine(quote, ready.order, options)}`)
        const isAccepted = await acceptQuote(context, quote, ready, options)
        if (isAccepted) await fillLocalWallet(context, ready, BigInt(quote.input))
        return isAccepted
      },
      onProgress(progress) {
        record(context, progress)
        if (progress.step === 'status' && progress.swap.status === 'pending' && watch.isLive()) return
        context.terminal.progress(describe(progress, ready, options))
        if (progress.step === 'submitted') watch.start(progress.swapId)
      },
    })
    write(context, (now) => toEnd(now, ended.status))
    return ended
  } catch (error) {
    settle(context, error)
    throw await withWorkingAmount(context, client, ready, error)
  } finally {
    watch.stop()
  }
}

function write(
  { journal, seen }: Context,
  changeOf: (now: Attempt) => Parameters<typeof journal.record>[1],
): void {
  if (seen.attempt) seen.attempt = journal.record(seen.attempt, changeOf(seen.attempt))
}

function record(context: Context, progress: SwapProgress): void {
  const { interrupts } = context
  if (progress.step === 'built') {
    const { build } = progress
    write(context, () => ({ stage: 'built', operation: build.operation }))
  }
  if (progress.step === 'submitting') {
    const { submission, lockableUntil } = progress
    write(context, () => ({ stage: 'submitting', submission, lockableUntil }))
    interrupts.hold()
  }
  if (progress.step === 'submitted') {
    write(context, () => ({ stage: 'submitted', swapId: progress.swapId }))
    interrupts.release()
  }
  if (progress.step === 'requoting') {
    write(context, () => ({ stage: 'preparing' }))
    interrupts.release()
  }
}

/**
 * An error before the submission, or a refusal of it, ends the attempt. Any later error leaves it open,
 * because a swap may exist.
 */
function settle(context: Context, error: unknown): void {
  const stage = context.seen.attempt?.stage
  const isRefused = error instanceof GeoswapError || error instanceof UserError
  const isOver = stage === 'preparing' || stage === 'built' || (stage === 'submitting' && isRefused)
  if (!isOver) return
  write(context, (now) => toEnd(now, 'notSubmitted'))
}

async function acceptQuote(
  { terminal, interrupts }: Context,
  quote: QuoteReply,
  ready: ReadyOrder,
  options: Options,
): Promise<boolean> {
  const isHigh = hasHighImpact(quote, ready) && !options.acceptsImpact
  const isOpen = isUnbounded(ready, options)
  if (!isHigh && !isOpen) return true
  const { priceImpactBps } = quote
  const terms = `${quoteLine(quote, ready.order, options)}, ${impactOf(priceImpactBps)}`
  if (terminal.isInteractive) return terminal.confirm(`Swap ${terms}?`, interrupts.signal)
  if (isOpen)
    throw new UserError(
      'NEEDS_CONFIRMATION',
      `Not swapped, because nothing limits the input. It is ${terms}.`,
      {
        advice: 'Set a limit: --max-pay N.',
      },
    )
  throw new UserError('HIGH_PRICE_IMPACT', `Not swapped: ${terms}.`, {
    advice: '--accept-impact swaps anyway. Another amount may lose less.',
    details: { priceImpactBps },
  })
}

function describe(progress: SwapProgress, { order }: ReadyOrder, style: Style): string {
  switch (progress.step) {
    case 'quoted':
      return `quoted ${quoteLine(progress.quote, order, style)}, ${impactOf(progress.quote.priceImpactBps)}`
    case 'authorizing':
      return `signing the delegation of ${order.wallet.address} on ${order.from.chain}`
    case 'built':
      return 'geoOpHash' in progress.build ? `built, by ${progress.build.method ?? 'delegation'}` : 'built'
    case 'signing':
      return 'checked, signing'
    case 'submitting':
      return 'submitting'
    case 'submitted':
      return `submitted ${progress.swapId}`
    case 'paying':
      return `sending the input to ${progress.payment.to}`
    case 'paid':
      return `sent the input in tx ${progress.txHash}`
    case 'status':
      return whereIsMoney(progress.swap, order)
    case 'requoting':
      return `quoting again: ${progress.reason.message}`
  }
}

/** Before anything is submitted. How much a transfer takes, its node says later. */
async function assertGas(context: Context, chain: Chain, address: string): Promise<void> {
  if ((await nodeOf(context, chain).balanceOf(address, zeroAddress)) > 0n) return
  const advice = `Send some to ${address}, or leave out --method: other ways need none.`
  throw new UserError('NEEDS_GAS', `${address} has no gas coin on ${chain.name}.`, { advice })
}

/** A signer that sends its input itself: it needs a node and some gas coin, so only if such a way is asked for. */
export async function toPayer(
  context: Context,
  key: Key,
  { from: { chain }, wallet }: ReadyOrder,
): Promise<EvmSigner> {
  await assertGas(context, chain, wallet.address)
  const transport = http(getRpcUrl(context.settings, chain))
  const { sendTransaction, ...signer } = fromViemWallet(
    createWalletClient({ account: toAccount(key), transport }),
  )
  return {
    ...signer,
    sendTransaction: sendTransaction && ((transfer) => orNodeFailed(chain, sendTransaction(transfer))),
  }
}
