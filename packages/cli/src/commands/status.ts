import type { Client, HistoryReply, StatusReply } from '@geoswap/sdk'
import { formatAmount } from '@geoswap/wallet/amounts'
import type { Catalog } from '@geoswap/wallet/catalog'
import { type Context, connect, readCatalog } from '@geoswap/wallet/context'
import { assertId, resumeWith, UserError } from '@geoswap/wallet/errors'
import { defaultFamily, parseAnyAddress } from '@geoswap/wallet/families/registry'
import { readExternalId } from '@geoswap/wallet/order'
import { type Attempt, swapIdOf } from '@geoswap/wallet/store/journal'
import { idsOf, toEnd } from '@geoswap/wallet/swap/claim'
import { followAttempt, followSwap, notSubmitted } from '@geoswap/wallet/swap/follow'
import { chooseWallet } from '@geoswap/wallet/wallets'
import { anyOf, SWAP_STATUSES, type SwapStatus, UNSETTLED_STATUSES } from '@geoswap/wire/names'
import { columns, defineCommand } from '../command.ts'
import { swapLines } from '../print.ts'

export const status = defineCommand({
  usage: 'ID [--wait]',
  about: `Shows the status of a swap. ID is a swapId, or the att_… that an interrupted swap printed.
--wait follows it to its end; for an attempt whose submission may not have arrived it sends the same
submission again, which creates at most one swap.
Exit code 0: settled, or pending. 2: ${anyOf(UNSETTLED_STATUSES)}.`,
  words: [1, 1],
  options: {
    wait: { type: 'boolean', about: 'wait until the swap has ended' },
    raw: { type: 'boolean', about: 'amounts are integers in the smallest unit' },
  },
  examples: ['swp_4f1c0d6a9b7e42c3a5d8e0f1b2c3d4e5', 'att_5f2c9a7be1d40836 --wait'],

  async run(context, { values, words: [id = ''] }) {
    assertId(id)
    const attempt = context.journal.find(id)
    if (!attempt && id.startsWith('att_')) throw new UserError('USAGE', `The journal has no attempt ${id}.`)
    const client = connect(context)
    const read = values.wait ? follow : readNow
    const swap = await read(context, client, attempt ?? id)
    context.terminal.result(swapLines(swap, attempt?.order, { raw: values.raw ?? false }), {
      ...swap,
      ...idsOf(attempt),
    })
    return swap.status === 'pending' || swap.status === 'settled' ? 0 : 2
  },
})

/** A swap of this machine's journal, or the id of any other. */
type Target = Attempt | string

function follow(context: Context, client: Client, target: Target): Promise<StatusReply> {
  return typeof target === 'string'
    ? followSwap(context, client, { swapId: target })
    : followAttempt(context, client, target)
}

async function readNow(
  { journal, interrupts }: Context,
  client: Client,
  target: Target,
): Promise<StatusReply> {
  const { signal } = interrupts
  if (typeof target === 'string') return client.status(target, { signal })
  const swapId = swapIdOf(target)
  if (target.stage === 'submitting') throw submissionUnknown(target.id)
  if (swapId === undefined) throw notSubmitted(target, 'Nothing was submitted in this attempt.')
  const swap = await client.status(swapId, { signal })
  if (swap.status !== 'pending') journal.record(target, toEnd(target, swap.status))
  return swap
}

function submissionUnknown(attempt: string): UserError {
  const message = 'It is unknown whether the service accepted the swap.'
  const advice = `${resumeWith(attempt)} sends the same submission again and follows its swap.`
  return new UserError('SUBMISSION_UNKNOWN', message, { advice, details: { attempt } })
}

export const history = defineCommand({
  usage: '[options]',
  about: "Lists the swaps of this API key's account, newest first, one page at a time.",
  words: [0, 0],
  options: {
    wallet: { type: 'string', value: 'WHO', about: 'only swaps that this wallet or address paid' },
    'external-id': { type: 'string', value: 'TEXT', about: 'only swaps that you gave this name' },
    status: { type: 'string', value: 'STATUS', about: `only those that are ${SWAP_STATUSES.join(', ')} now` },
    from: {
      type: 'string',
      value: 'TIME',
      about: 'only those created then or later: 2026-01-31, 2026-01-31T12:00Z',
    },
    to: { type: 'string', value: 'TIME', about: 'only those created before then' },
    limit: { type: 'string', value: 'N', about: 'how many, 1 to 100; default 20' },
    cursor: { type: 'string', value: 'CURSOR', about: 'the next page: nextCursor of the one before' },
    raw: { type: 'boolean', about: 'amounts are integers in the smallest unit' },
  },
  examples: ['--status pending', '--wallet bot --from 2026-01-01 --limit 100 --json'],

  async run(context, { values }) {
    const client = connect(context)
    const { signal } = context.interrupts
    const query = {
      wallet: values.wallet && (await getPayer(context, values.wallet)),
      externalId: values['external-id'] === undefined ? undefined : readExternalId(values['external-id']),
      status: values.status === undefined ? undefined : readStatus(values.status),
      from: readTime('--from', values.from),
      to: readTime('--to', values.to),
      limit: values.limit === undefined ? undefined : readLimit(values.limit),
      cursor: values.cursor,
    }
    const [page, catalog] = await Promise.all([
      client.history(query, { signal }),
      readCatalog(client, signal),
    ])
    context.terminal.result(toLines(page, catalog, values.raw ?? false), page)
    return 0
  },
})

function toLines({ swaps, nextCursor }: HistoryReply, catalog: Catalog, raw: boolean): string[] {
  if (swaps.length === 0) return ['no swap']
  const rows = swaps.map((swap) => [
    swap.createdAt,
    swap.swapId,
    swap.status,
    amountText(catalog, {
      chainId: swap.originChain,
      token: swap.inputToken,
      raw,
      amount: swap.amounts.input,
    }),
    amountText(catalog, {
      chainId: swap.destinationChain,
      token: swap.outputToken,
      raw,
      amount: swap.amounts.delivered ?? swap.amounts.quotedOutput,
    }),
  ])
  const table = columns([['CREATED', 'SWAP', 'STATUS', 'PAY', 'GET'], ...rows])
  return nextCursor === undefined ? table : [...table, `more: --cursor ${nextCursor}`]
}

/** A token that is no longer listed has unknown decimals, so its amount is printed in smallest units. */
function amountText(
  { chains, tokens }: Catalog,
  { chainId, token, amount, raw }: { chainId: number; token: string; amount: string; raw: boolean },
): string {
  const chain = chains.find((each) => each.chainId === chainId)?.name ?? `${chainId}`
  const listed = tokens.find((each) => each.chainId === chainId && each.address === token)
  if (!listed) return `${amount} units of ${chain}:${token}`
  return `${raw ? amount : formatAmount(BigInt(amount), listed.decimals)} ${chain}:${listed.symbol}`
}

/** The address of a named wallet. Others are passed on as they are: the service reads CAIP-10 itself. */
async function getPayer(context: Context, named: string): Promise<string> {
  if (named.includes(':')) return named
  const known = context.wallets.find(named)
  if (known) return known.address
  if (parseAnyAddress(named) !== undefined) return named
  // Only the wallet of the local network is in no file. Any other name is refused, with the names there are.
  return (await chooseWallet(context, { family: defaultFamily, chain: 'the origin chain', named })).address
}

function readStatus(text: string): SwapStatus {
  const found = SWAP_STATUSES.find((status) => status === text)
  if (found) return found
  throw new UserError('USAGE', `--status is one of ${SWAP_STATUSES.join(', ')}.`)
}

function readTime(option: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const time = Date.parse(text)
  if (/^\d{4}-\d{2}-\d{2}(T[\d:.]+Z)?$/.test(text) && !Number.isNaN(time)) return new Date(time).toISOString()
  throw new UserError('USAGE', `${option} is a time in UTC, such as 2026-01-31 or 2026-01-31T12:00Z.`)
}

function readLimit(text: string): number {
  if (/^([1-9]\d?|100)$/.test(text)) return Number(text)
  throw new UserError('USAGE', '--limit is 1 to 100.')
}
