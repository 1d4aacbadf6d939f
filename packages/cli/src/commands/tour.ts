import { setTimeout as delay } from 'node:timers/promises'
import {
  type Client,
  type EndedSwap,
  type Signer,
  type StatusReply,
  TamperedOperationError,
} from '@geoswap/sdk'
import { type Context, connect } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import { evm } from '@geoswap/wallet/families/evm'
import { createKey, type Key, toSigner } from '@geoswap/wallet/keys'
import { money, type ReadyOrder, resolveOrder } from '@geoswap/wallet/order'
import { readOperation } from '@geoswap/wallet/refund/escrow'
import { whereIsMoney } from '@geoswap/wallet/swap/follow'
import { askFaucet } from '@geoswap/wallet/swap/local-wallet'
import { toPayer } from '@geoswap/wallet/swap/perform'
import { defineCommand } from '../command.ts'
import { quoteLines, swapLines } from '../print.ts'

type Traveller = { context: Context; client: Client; key: Key; signer: Signer }

const STYLE = { raw: false }
const THIEF = `0x${'dead'.padStart(64, '0')}`

export const tour = defineCommand({
  usage: '[options]',
  about: `Shows on a network of npm start, in two minutes: a quote, a service that lies and is refused, a
signature and its swap, and an input that comes back. A new wallet pays with tokens of the faucet; its key is
not kept.`,
  words: [0, 0],
  options: {},
  examples: [],

  async run(context) {
    const { settings, terminal } = context
    const advice = 'Run npm start in a clone of geoswap, and the tour in the same folder.'
    if (!settings.local) throw new UserError('NO_FAUCET', 'The tour needs a local network.', { advice })
    const key = createKey(evm.name)
    const traveller = { context, client: connect(context), key, signer: await toSigner(key) }
    const { address } = traveller.signer
    const began = Date.now()

    say(context, [`The wallet of this tour is ${address}. It has no gas coin.`])
    const order = await takeOrder(traveller, { from: 'alpha:USDC', amount: '10' })
    const quote = await showQuote(traveller, order)
    const refused = await refuseLiar(traveller, order)
    const settled = await swap(traveller, order)
    const returned = await payTooLittle(traveller)
    const seconds = ((Date.now() - began) / 1_000).toFixed(0)
    terminal.result(
      [
        `The tour took ${seconds} s. Your own swap: geoswap swap alpha:USDC beta:USDC --amount 10`,
        'The same in code: docs/quickstart.md',
      ],
      { wallet: address, quote, refused, settled, returned },
    )
    return 0
  },
})

function say({ terminal }: Context, lines: readonly string[]): void {
  for (const line of lines) terminal.note(line)
}

function chapter(context: Context, title: string, lines: readonly string[]): void {
  say(context, ['', title, ...lines.map((line) => `  ${line}`)])
}

/** An order of the tour's wallet, which the faucet gives its input. */
async function takeOrder(
  { context, client, signer: { address } }: Traveller,
  { from, amount }: { from: string; amount: string },
): Promise<ReadyOrder> {
  const payer = async () => ({ name: 'tour', family: evm.name, address })
  const ready = await resolveOrder(context, client, { from, to: 'beta:USDC', amount }, payer)
  // Twice the input: a wallet that sends its own transaction also pays the gas.
  const given = (BigInt(ready.request.amount) * 2n).toString()
  await askFaucet(context, ready.from, { address, amount: BigInt(given) })
  return ready
}

async function showQuote({ context, client, signer }: Traveller, { request, order }: ReadyOrder) {
  const { signal } = context.interrupts
  const { geoQuoteToken: _, ...quote } = await client.quote(
    { ...request, walletAddress: signer.address },
    { signal },
  )
  const lines = quoteLines({ geoQuoteToken: '', ...quote }, order, STYLE)
  chapter(context, '1. A quote: the gas is among its costs, paid out of the input', lines)
  return quote
}

/** A service between the wallet and the real one, which builds the op for a recipient of its own. */
async function refuseLiar({ context, signer }: Traveller, { request, limits }: ReadyOrder): Promise<string> {
  const liar = connect(context, (ask) => async (url, init) => {
    const response = await ask(url, init)
    if (!new URL(`${url}`).pathname.endsWith('/swap/build-geo-op') || !response.ok) return response
    const { operation, ...build } = JSON.parse(await response.text())
    operation.message.delivery.recipient = THIEF
    return Response.json({ ...build, operation, geoOpHash: readOperation(operation).hash })
  })
  const { signal } = context.interrupts
  try {
    await liar.swap(request, signer, { ...limits, signal })
  } catch (error) {
    if (!(error instanceof TamperedOperationError)) throw error
    const lines = [error.message, 'The wallet signed no operation, and its money did not move.']
    chapter(context, '2. A service that lies: it builds the swap for another recipient', lines)
    return error.message
  }
  throw new Error('The operation of a lying service was signed')
}

async function swap(
  { context, client, signer }: Traveller,
  { request, limits, order }: ReadyOrder,
): Promise<EndedSwap> {
  const { signal } = context.interrupts
  chapter(context, '3. One signature, and the swap', [])
  const settled = await client.swap(request, signer, {
    ...limits,
    signal,
    onProgress(progress) {
      if (progress.step === 'authorizing') say(context, ['  the wallet delegates itself, once: EIP-7702'])
      if (progress.step === 'built' && 'geoOpHash' in progress.build)
        say(context, [`  it signs the hash of what was checked: ${progress.build.geoOpHash}`])
      if (progress.step === 'status') context.terminal.progress(`  ${whereIsMoney(progress.swap, order)}`)
    },
  })
  say(
    context,
    swapLines(settled, order, STYLE).map((line) => `  ${line}`),
  )
  return settled
}

/** A wallet sends half of its input, which cannot be swapped: it comes back without a request. */
async function payTooLittle(traveller: Traveller): Promise<StatusReply> {
  const { context, client, key } = traveller
  const { signal } = context.interrupts
  const ready = await takeOrder(traveller, { from: 'alpha:ETH', amount: '0.01' })
  const { request, limits, order } = ready
  const payer = await toPayer(context, key, ready)
  const options = { ...limits, method: 'transfer', signal } as const
  const { submission, payment } = await client.prepare(request, payer, options)
  if (!payment) throw new Error('The swap asks for no transfer')
  const { swapId } = await client.submit(submission, { signal })
  const { transaction, until } = payment
  const half = { ...transaction, value: transaction.value / 2n }
  const txHash = await payer.sendTransaction?.(half)
  chapter(context, '4. An input that cannot be swapped: half of a transfer', [
    `the wallet sends ${money(half.value.toString(), order.from, STYLE)} to ${half.to} in ${txHash}`,
    `its price holds until ${new Date(until * 1_000).toISOString()}; then it comes back`,
  ])
  const returned = await untilReturned(traveller, swapId)
  say(
    context,
    swapLines(returned, order, STYLE).map((line) => `  ${line}`),
  )
  return returned
}

const RETURN_MS = 240_000
const LOOK_MS = 1_000

async function untilReturned({ context, client }: Traveller, swapId: string): Promise<StatusReply> {
  const { signal } = context.interrupts
  for (const end = Date.now() + RETURN_MS; Date.now() < end; await delay(LOOK_MS, undefined, { signal })) {
    const swap = await client.status(swapId, { signal })
    if (swap.deposit?.returned?.length) return swap
    context.terminal.progress(`  ${whereIsMoney(swap, undefined)}`)
  }
  throw new UserError('NOT_REFUNDABLE', `The input of swap ${swapId} is not back yet.`, {
    advice: `It comes back by itself: geoswap status ${swapId}`,
  })
}
