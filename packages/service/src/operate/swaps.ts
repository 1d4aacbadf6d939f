import { SWAP_STATUSES } from '@geoswap/wire'
import { parseEvmAddress } from '../chains/evm/address.ts'
import { parseSolanaAddress } from '../chains/solana/bytes.ts'
import { type Env, type Output, parseSubcommand, toTable, UsageError, withDatabase } from '../command.ts'
import { findLostInputs, writeOffInput } from '../store/exposure.ts'
import {
  findSwapRecord,
  type ListedSwap,
  listSwaps,
  type SwapFilter,
  type TraceLine,
  traceSwap,
} from '../store/history.ts'
import { formatCents } from '../swap/amount.ts'
import { endedStates, openStates } from '../swap/lifecycle.ts'
import { type Amounts, findAmounts } from './amounts.ts'

export const SWAPS_HELP = `swaps list [--status STATUS] [--wallet WALLET] [--limit N] [--json]
      Lists swaps of all accounts, newest first (default 20). STATUS is a public status or a state.
  service swaps show ID [--json]
      Shows the stored data of a swap.
  service swaps trace ID [--json]
      Shows all changes, signed transactions, attestations and ledger entries of a swap, in order of time.
  service swaps lost [--json]
      Lists inputs of paid swaps that a reorg undid for good, or that went back after their deadline. Each counts
      against exposureCapUsd and unclaimedCapUsd.
  service swaps write-off ID --note TEXT
      Writes such a loss off: it no longer counts against the caps. Moves no money.`

const STATUSES: readonly string[] = [...new Set([...SWAP_STATUSES, ...endedStates, ...openStates])]
const MAX_LIMIT = 1_000

const text = { type: 'string' } as const
const options = { status: text, wallet: text, limit: text, note: text, json: { type: 'boolean' } } as const

type Flags = { status?: string; wallet?: string; limit?: string; note?: string; json?: boolean }
type Run = { env: Env; output: Output; flags: Flags; rest: string[] }

const commands: Record<string, (run: Run) => Promise<void>> = {
  list,
  show,
  trace,
  lost: listLost,
  'write-off': writeOff,
}

/** Read-only except for write-off, and moves no money. */
export async function inspectSwaps(args: string[], env: Env, output: Output): Promise<number> {
  const { command, flags, rest } = parseSubcommand({ args, options, commands })
  await command({ env, output, flags, rest })
  return 0
}

async function list({ env, output, flags, rest }: Run): Promise<void> {
  refuseArguments('list', rest)
  const filter = toFilter(flags)
  const swaps = await withDatabase(env, 'swaps', (pool) => listSwaps(pool, filter))
  const amounts = findAmounts(env)
  const rows = () => swaps.map((swap) => toRow(swap, amounts))
  output.out(flags.json ? JSON.stringify(swaps, null, 2) : toTable([HEADER, ...rows()]))
}

/** The filter of the flags. Wallets are compared in their stored form, with checksum. */
export function toFilter({ status, wallet, limit }: Flags): SwapFilter {
  if (status !== undefined && !STATUSES.includes(status))
    throw new UsageError(`Unknown status ${status}. Statuses: ${STATUSES.join(', ')}.`)
  const address = wallet === undefined ? undefined : (parseEvmAddress(wallet) ?? parseSolanaAddress(wallet))
  if (wallet !== undefined && address === undefined)
    throw new UsageError(`${wallet} is not a wallet address on EVM chains or Solana.`)
  return { limit: parseLimit(limit), status, wallet: address }
}

const HEADER = ['ID', 'STATE', 'CREATED', 'FROM', 'TO', 'WALLET']

function toRow(swap: ListedSwap, { amount }: Amounts): string[] {
  const { id, state, createdAt, originChain, inputAmount, inputToken, destinationChain, wallet } = swap
  const from = amount(originChain, inputToken, inputAmount)
  const to = amount(destinationChain, swap.outputToken, swap.quotedOutput)
  return [id, state, createdAt.toISOString(), from, to, wallet]
}

async function show({ env, output, flags, rest }: Run): Promise<void> {
  const id = getId(rest)
  const swap = await withDatabase(env, 'swaps', (pool) => findSwapRecord(pool, id))
  if (!swap) throw new UsageError(`Unknown swap ${id}.`)
  if (flags.json) return output.out(JSON.stringify(swap, null, 2))
  const rows = Object.entries(toShown(swap, findAmounts(env))).filter(([, value]) => value !== null)
  output.out(toTable(rows.map(([name, value]) => [name, toText(value)])))
}

const OUTPUTS = ['quotedOutput', 'minOutput', 'delivered']

/** The record with names of chains, and amounts with symbols and decimals. */
function toShown(swap: ListedSwap & Record<string, unknown>, { chain, amount }: Amounts) {
  const { originChain, destinationChain, inputToken, outputToken } = swap
  const show = (name: string, value: unknown) => {
    if (name === 'originChain' || name === 'destinationChain') return chain(Number(value))
    if (typeof value !== 'string') return value
    if (name === 'inputAmount') return amount(originChain, inputToken, value)
    return OUTPUTS.includes(name) ? amount(destinationChain, outputToken, value) : value
  }
  return Object.fromEntries(Object.entries(swap).map(([name, value]) => [name, show(name, value)]))
}

async function trace({ env, output, flags, rest }: Run): Promise<void> {
  const id = getId(rest)
  const [lines, swap] = await withDatabase(env, 'swaps', async (pool) => [
    await traceSwap(pool, id),
    await findSwapRecord(pool, id),
  ])
  if (lines.length === 0 || !swap) throw new UsageError(`Unknown swap ${id}.`)
  const amounts = findAmounts(env)
  const rows = () => lines.map((line) => toLine(line, swap, amounts))
  output.out(flags.json ? JSON.stringify(lines, null, 2) : toTable(rows()))
}

/** An amount in the books is of the token beside it; a delivered amount is of the swap's output token. */
function toLine({ at, what, detail }: TraceLine, swap: ListedSwap, { chain, amount }: Amounts): string[] {
  const { chain: id, token, amount: moved, delivered, ...rest } = detail
  const shown = {
    chain: id === undefined ? undefined : chain(Number(id)),
    amount: moved === undefined ? undefined : amount(Number(id), String(token), String(moved)),
    delivered:
      delivered === undefined
        ? undefined
        : amount(swap.destinationChain, swap.outputToken, String(delivered)),
    ...rest,
  }
  const known = Object.entries(shown).filter(([, value]) => value !== undefined)
  const details = known.map(([name, value]) => `${name} ${toText(value)}`)
  return [at.toISOString(), what, details.join(', ')]
}

async function listLost({ env, output, flags, rest }: Run): Promise<void> {
  refuseArguments('lost', rest)
  const lost = await withDatabase(env, 'swaps', findLostInputs)
  const rows = lost.map(({ swapId, chainId, cents, at }) => ({
    swapId,
    chainId,
    usd: formatCents(cents),
    at: at.toISOString(),
  }))
  if (flags.json) return output.out(JSON.stringify(rows, null, 2))
  const table = rows.map(({ swapId, chainId, usd, at }) => [swapId, String(chainId), usd, at])
  output.out(toTable([['ID', 'CHAIN', 'USD', 'SINCE'], ...table]))
}

async function writeOff({ env, output, flags, rest }: Run): Promise<void> {
  const swapId = getId(rest)
  const note = flags.note?.trim()
  if (!note) throw new UsageError('--note is required: the reason, for later readers.')
  const isWritten = await withDatabase(env, 'swaps', (pool) => writeOffInput(pool, { swapId, note }))
  if (!isWritten)
    throw new UsageError(
      `The input of ${swapId} is not lost or already written off. swaps lost lists lost inputs.`,
    )
  output.hint(`Written off: the input of ${swapId}.`)
}

const toText = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value))

function refuseArguments(command: string, rest: readonly string[]): void {
  if (rest.length > 0)
    throw new UsageError(`swaps ${command} takes no argument ${rest.join(' ')}. Try --help.`)
}

function getId([id, ...more]: string[]): string {
  if (!id || more.length > 0) throw new UsageError('Swap id missing: swaps list shows the ids.')
  return id
}

function parseLimit(text = '20'): number {
  const limit = Number(text)
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw new UsageError(`--limit must be 1..${MAX_LIMIT}.`)
  return limit
}
