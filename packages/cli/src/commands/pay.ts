import { constants, existsSync } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { type X402Answer, X402Error, type X402Plan, x402TermsOf } from '@geoswap/sdk/x402'
import { formatAmount } from '@geoswap/wallet/amounts'
import type { Side } from '@geoswap/wallet/catalog'
import { type Context, connect } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import { payRequest, type Shown } from '@geoswap/wallet/pay'
import { type ChosenWallet, choosePayers, chooseWallet } from '@geoswap/wallet/wallets'
import { columns, defineCommand, type ExitCode } from '../command.ts'
import { nodesOption, withNodes } from './order-options.ts'

export const pay = defineCommand({
  usage: 'URL [options]',
  about: `Requests a URL. If it asks for a payment by x402 (HTTP 402), shows what it asks, pays the cheapest of its
offers on EVM chains and Solana, and writes the answer to stdout. A token that the wallet lacks is swapped
to it first, exactly that amount. Without --max-usd it asks before it pays.
A payment that was not answered is sent again by the same command; no second one is signed while it can be
used.`,
  words: [1, 1],
  options: {
    'max-usd': {
      type: 'string',
      value: 'N',
      about: 'pay up to this without asking, costs of a swap included',
    },
    from: {
      type: 'string',
      value: 'CHAIN:TOKEN',
      about: 'swap from this; default: the best of the balances',
    },
    wallet: {
      type: 'string',
      value: 'NAME',
      about: 'wallet that pays; default: the usual one of each family',
    },
    'from-wallet': { type: 'string', value: 'NAME', about: 'wallet that pays the swap, of any chain' },
    data: { type: 'string', value: 'TEXT', about: 'send this body by POST, as JSON' },
    header: { type: 'string', multiple: true, value: 'NAME:VALUE', about: 'a header of the request' },
    output: {
      type: 'string',
      value: 'FILE',
      about: 'write the answer to this file, up to 256 MB; else 10 MB',
    },
    again: { type: 'boolean', about: 'pay again for what was paid and not answered' },
    'dry-run': { type: 'boolean', about: 'show what would be paid: nothing is signed' },
    rpc: nodesOption,
  },
  examples: [
    'https://api.example/report --max-usd 0.10',
    'https://api.example/report --from solana:USDC --output report.pdf',
    `https://api.example/ask --data '{"question":"…"}' --header 'accept: application/json'`,
  ],

  async run(given, { values, words: [url = ''] }) {
    const context = await withNodes(given, values.rpc ?? [], values.from)
    const client = connect(context)
    const most = values['max-usd'] === undefined ? undefined : readCents(values['max-usd'])
    const isDry = values['dry-run'] ?? false
    const payers = await choosePayers(context, values.wallet)
    const { data: body } = values
    const json = body === undefined ? undefined : { 'content-type': 'application/json' }
    const request = {
      ...{ url, method: body === undefined ? 'GET' : 'POST', body },
      headers: { ...json, ...readHeaders(values.header ?? []) },
    }
    let planned: { plan: X402Plan; shown: Shown } | undefined
    // Before anything is paid: the answer may not come twice.
    const file = values.output === undefined || isDry ? undefined : await openOutput(values.output)
    let isAnswered = false
    try {
      const answer = await payRequest(context, client, {
        ...{ request, payers, from: values.from, again: values.again ?? false, isDry },
        isInsecure: context.isInsecure,
        maxBytes: file && MAX_FILE_BYTES,
        chooseWallet: (side) => findSource(context, side, { payers, named: values['from-wallet'] }),
        approve(plan, shown) {
          planned = { plan, shown }
          return !isDry && approve(context, planned, most)
        },
      })
      isAnswered = true
      return await report(context, answer, { file, shown: planned?.shown })
    } catch (error) {
      if (!planned || !isDry || !(error instanceof X402Error) || error.code !== 'X402_DECLINED') throw error
      context.terminal.result([...payLines(planned), 'Nothing was signed.'], {
        dryRun: true,
        payment: toJson(planned),
      })
      return 0
    } finally {
      await file?.handle.close()
      if (file?.isNew && !isAnswered) await rm(file.path)
    }
  },
})

const MAX_FILE_BYTES = 256_000_000

type Output = { path: string; handle: FileHandle; isNew: boolean }

/** The content of the file stays until there is an answer. */
async function openOutput(path: string): Promise<Output> {
  const isNew = !existsSync(path)
  return { path, isNew, handle: await open(path, constants.O_WRONLY | constants.O_CREAT) }
}

/** Undefined if it was written, or else why not. Devices and pipes have no length. */
async function tryWrite({ path, handle }: Output, body: Uint8Array): Promise<string | undefined> {
  try {
    if ((await handle.stat()).isFile()) await handle.truncate()
    await handle.writeFile(body)
    return undefined
  } catch (error) {
    return `${path} was not written: ${error instanceof Error ? error.message : error}`
  }
}

/** A payer, on its own family of chains; else the named wallet, or the usual one there. */
async function findSource(
  context: Context,
  { chain }: Side,
  { payers, named }: { payers: readonly ChosenWallet[]; named: string | undefined },
): Promise<ChosenWallet | undefined> {
  const payer = payers.find(({ family }) => family === chain.family)
  if (named === undefined && payer) return payer
  try {
    return await chooseWallet(context, { family: chain.family, chain: chain.name, named })
  } catch (error) {
    if (error instanceof UserError && error.code === 'NO_WALLET') return undefined
    throw error
  }
}

type Planned = { plan: X402Plan; shown: Shown }

const dollars = (cents: bigint) => `${formatAmount(cents, 2)} USD`

function payLines({ plan, shown }: Planned): string[] {
  return columns([
    ['price', shown.price],
    ['token', shown.token],
    ['to', shown.payTo],
    ['from', plan.payer],
    plan.swap && ['swap', `${shown.pays}, of ${plan.swap.source.wallet}`],
    ['value', plan.cents === undefined ? 'not known' : `${dollars(plan.cents)} in all`],
    shown.seller !== undefined && ['note', shown.seller],
  ])
}

async function approve(context: Context, planned: Planned, most: bigint | undefined): Promise<boolean> {
  const { terminal, interrupts } = context
  const { cents } = planned.plan
  for (const line of payLines(planned)) terminal.note(line)
  if (most !== undefined && cents !== undefined && cents <= most) return true
  const { pays, price, payTo } = planned.shown
  const question = `Pay ${pays === price ? price : `${pays} for ${price}`} to ${payTo}?`
  if (terminal.isInteractive) return terminal.confirm(question, interrupts.signal)
  const value = cents === undefined ? 'of a value that is not known' : `worth ${dollars(cents)}`
  const limit = most === undefined ? 'nothing limits it' : `the limit is ${dollars(most)}`
  const message = `Not paid: it is ${planned.shown.pays}, ${value}, and ${limit}.`
  throw new UserError('NEEDS_CONFIRMATION', message, {
    advice: 'Set a limit: --max-usd N. A token without a price is confirmed at a terminal.',
  })
}

async function report(
  { terminal }: Context,
  answer: X402Answer,
  { file, shown }: { file: Output | undefined; shown: Shown | undefined },
): Promise<ExitCode> {
  const { payment, transaction, swap, body, headers, status } = answer
  const failure = file && (await tryWrite(file, body))
  const output = failure === undefined ? file?.path : undefined
  const terms = payment && x402TermsOf(payment)
  const paid = payment && terms && (shown?.price ?? `${formatAmount(BigInt(terms.amount), payment.decimals)}`)
  const lines = columns([
    ['paid', paid ?? 'nothing: the answer was free'],
    ['in', transaction],
    ['swap', swap?.swapId],
    output !== undefined && ['answer', `${body.length} bytes in ${output}`],
    failure !== undefined && ['answer', `on stdout: ${failure}`],
  ])
  for (const line of lines) terminal.note(line)
  if (!terminal.json && output === undefined) terminal.foreign(body)
  const code = failure === undefined ? 0 : 1
  if (!terminal.json) return code
  const contentType = headers.get('content-type') ?? undefined
  const said = output === undefined ? toBody(body) : { output }
  const { chainId, asset } = payment ?? {}
  const { amount, payTo, nonce } = terms ?? {}
  const told = payment && { chainId, asset, amount, payTo, nonce, transaction }
  terminal.result([], { status, contentType, ...said, payment: told, swapId: swap?.swapId, failure })
  return code
}

/** JSON carries text as it is, and anything else in base64. */
function toBody(bytes: Uint8Array): { body: string } | { bodyBase64: string } {
  try {
    return { body: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return { bodyBase64: Buffer.from(bytes).toString('base64') }
  }
}

function toJson({ plan, shown }: Planned) {
  const { offer, swap, cents } = plan
  const { chainId, asset, payTo } = offer
  return {
    ...{ chainId, asset, payTo, amount: offer.amount.toString(), seller: shown.seller },
    valueUsd: cents === undefined ? undefined : formatAmount(cents, 2),
    swap: swap && {
      ...{ originChain: swap.source.chainId, inputToken: swap.source.token, input: swap.quote.input },
      wallet: swap.source.wallet,
    },
  }
}

function readCents(text: string): bigint {
  const [, whole, fraction = ''] = /^(\d{1,15})(?:\.(\d{1,2}))?$/.exec(text) ?? []
  if (whole !== undefined) return BigInt(whole + fraction.padEnd(2, '0'))
  throw new UserError('USAGE', `--max-usd ${text} is no amount of dollars.`, {
    advice: 'Write it like 5 or 0.25.',
  })
}

function readHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(line) ?? []
      if (name !== undefined && value !== undefined) return [name.toLowerCase(), value]
      throw new UserError('USAGE', `--header ${line} is no header.`, {
        advice: "Write --header 'NAME: VALUE'.",
      })
    }),
  )
}
