import type { Client, EndedSwap } from '@geoswap/sdk'
import { type Context, connect } from '@geoswap/wallet/context'
import { assertReadable, type ReadyOrder, resolveOrder } from '@geoswap/wallet/order'
import type { Order } from '@geoswap/wallet/store/journal'
import { claimOrder } from '@geoswap/wallet/swap/claim'
import { followAttempt } from '@geoswap/wallet/swap/follow'
import { performSwap } from '@geoswap/wallet/swap/perform'
import { quoteOrder } from '@geoswap/wallet/swap/quote'
import { chooseAnybody, chooseWallet } from '@geoswap/wallet/wallets'
import { anyOf, SENT_METHODS, SIGNED_METHODS, UNSETTLED_STATUSES } from '@geoswap/wire/names'
import { defineCommand, type ExitCode } from '../command.ts'
import { quoteLines, swapLines } from '../print.ts'
import { nodesOption, orderOptions, toMethod, toOrderArguments, withNodes } from './order-options.ts'

export const swap = defineCommand({
  usage: 'CHAIN:TOKEN CHAIN:TOKEN (--amount N | --receive N) [options]',
  about: `Swaps the first token for the second: quotes, checks the operation, signs, submits and
waits for the end. The wallet needs no gas coin.
Exit code 0: settled. 2: ${anyOf(UNSETTLED_STATUSES)}, so the input is in the wallet,
or a sent one on its way back from the operation's address. 1: an error.`,
  words: [2, 2],
  options: {
    ...orderOptions,
    'min-receive': { type: 'string', value: 'N', about: 'refuse a quote that guarantees less' },
    'max-pay': { type: 'string', value: 'N', about: 'refuse a quote that costs more, for --receive' },
    'accept-impact': { type: 'boolean', about: 'swap even if much value is lost' },
    method: {
      type: 'string',
      value: 'WAY',
      about: `${SIGNED_METHODS.join(', ')}; by ${anyOf(SENT_METHODS)} it sends itself and needs gas coin`,
    },
    'dry-run': { type: 'boolean', about: 'stop after the quote: nothing is signed or submitted' },
    rpc: nodesOption,
    new: { type: 'boolean', about: 'start another swap although the same one is in flight' },
  },
  examples: [
    'alpha:USDC beta:USDC --amount 10',
    'alpha:USDC solana:SOL --amount max --to 4Nd1…',
    'base:USDC arbitrum:USDC --amount 10 --rpc https://node.example',
    'beta:ETH alpha:USDC --receive 25 --max-pay 0.011 --wallet bot --json',
  ],

  async run(given, { values, words }) {
    const method = toMethod(values.method)
    const context = await withNodes(given, values.rpc ?? [], words[0])
    const client = connect(context)
    const ready = await resolveOrder(
      context,
      client,
      toOrderArguments(values, words),
      ({ chain: { family, name } }) => chooseWallet(context, { family, chain: name, named: values.wallet }),
    )
    const { order, from } = ready
    const style = { raw: values.raw ?? false }
    if (values['dry-run']) return dryRun(context, client, ready, style)
    assertReadable(context, ready)
    const rpcUrl = context.settings.rpcUrls[from.chain.chainId]
    const { attempt, isLeft } = await claimOrder(context, client, {
      order,
      isNew: values.new ?? false,
      rpcUrl,
    })
    const acceptsImpact = values['accept-impact'] ?? false
    const ended = isLeft
      ? await followAttempt(context, client, attempt)
      : await performSwap(context, client, ready, { attempt, acceptsImpact, method, ...style })
    return report(context, ended, order, style)
  },
})

async function dryRun(
  context: Context,
  client: Client,
  ready: ReadyOrder,
  style: { raw: boolean },
): Promise<ExitCode> {
  const { request, wallet, order } = ready
  const asked = { ...request, walletAddress: wallet.address }
  const { geoQuoteToken: _, ...quote } = await quoteOrder(context, client, ready)
  const lines = quoteLines({ geoQuoteToken: '', ...quote }, order, style)
  context.terminal.result([...lines, 'Nothing was signed or submitted.'], {
    dryRun: true,
    request: asked,
    quote,
  })
  return 0
}

function report({ terminal }: Context, ended: EndedSwap, order: Order, style: { raw: boolean }): ExitCode {
  const { wallet, recipient, from, to } = order
  terminal.result(swapLines(ended, order, style), { ...ended, wallet, recipient, from, to })
  return ended.status === 'settled' ? 0 : 2
}

export const quote = defineCommand({
  usage: 'CHAIN:TOKEN CHAIN:TOKEN (--amount N | --receive N) [options]',
  about: `Prices a swap. Nothing is signed; geoswap swap quotes again. --wallet may be an address.`,
  words: [2, 2],
  options: orderOptions,
  examples: ['alpha:USDC beta:ETH --amount 100', 'alpha:USDC beta:ETH --receive 0.1'],

  async run(context, { values, words }) {
    const client = connect(context)
    const ready = await resolveOrder(context, client, toOrderArguments(values, words), ({ chain }) =>
      chooseAnybody(context, chain, values.wallet),
    )
    const { order, request } = ready
    const asked = { ...request, walletAddress: order.wallet.address }
    const reply = await quoteOrder(context, client, ready)
    const { from, to } = order
    const lines = quoteLines(reply, order, { raw: values.raw ?? false })
    context.terminal.result(lines, { ...reply, request: asked, from, to })
    return 0
  },
})
