import { parseEvmAddress } from '../chains/evm/address.ts'
import { parseSolanaAddress } from '../chains/solana/address.ts'
import {
  type Env,
  findPlace,
  type Output,
  parseFlags,
  toTable,
  UsageError,
  withDatabase,
} from '../command.ts'
import { formatCents } from '../model/amount.ts'
import { openStates } from '../model/lifecycle.ts'
import { findLostInputs, writeOffInput } from '../store/exposure.ts'
import {
  findSwapRecord,
  type ListedSwap,
  listSwaps,
  type SwapFilter,
  type TraceLine,
  traceSwap,
} from '../store/trace.ts'

export const SWAPS_HELP = `swaps list [--status STATUS] [--wallet WALLET] [--limit N] [--json]
      Lists swaps of all accounts, the newest first (default 20). A status is a public one or a state.
  service swaps show ID [--json]
      Shows what is stored of a swap.
  service swaps trace ID [--json]
      Shows every change, signed transaction, attestation and line of the books of a swap, in the order of time.
  service swaps lost [--json]
      Lists inputs that a reorg took back for good after they were paid for. Each counts against exposureCapUsd.
  service swaps write-off ID --note TEXT
      Takes such a loss as it is: it no longer counts against exposureCapUsd. No money moves.`

const STATUSES = ['pending', 'settled', 'failed', 'refunded', 'closed', ...openStates]
const MAX_LIMIT = 1_000

type Flags = { status?: string; wallet?: string; limit?: string; note?: string; json?: boolean }
type Run = { env: Env; output: Output; flags: Flags; rest: string[] }

const commands: Record<string, (run: Run) => Promise<void>> = {
  ...{ list, show, trace, lost: listLost, 'write-off': writeOff },
}

/** Nothing here can move a swap, or money. */
export async function inspectSwaps(args: string[], env: Env, output: Output): Promise<number> {
  const { values: flags, positionals } = parse(args)
  const [name = '', ...rest] = positionals
  const run = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!run) throw new UsageError(`Say what to do: swaps ${Object.keys(commands).join(', swaps ')}.`)
  await run({ env, output, flags, rest })
  return 0
}

async function list({ env, output, flags, rest }: Run): Promise<void> {
  refuseArguments('list', rest)
  const filter = toFilter(flags)
  const swaps = await withDatabase(findPlace(env), 'swaps', (pool) => listSwaps(pool, filter))
  output.out(flags.json ? JSON.stringify(swaps, null, 2) : toTable([HEADER, ...swaps.map(toRow)]))
}

/** Which swaps are meant. Wallets are compared as they are stored: with their checksum. */
export function toFilter({ status, wallet, limit }: Flags): SwapFilter {
  if (status !== undefined && !STATUSES.includes(status))
    throw new UsageError(`There is no status ${status}. There are ${[...new Set(STATUSES)].join(', ')}.`)
  const address = wallet === undefined ? undefined : (parseEvmAddress(wallet) ?? parseSolanaAddress(wallet))
  if (wallet !== undefined && address === undefined)
    throw new UsageError(`${wallet} is no address of a wallet, on EVM chains or on Solana.`)
  return {
    limit: parseLimit(limit),
    ...(status !== undefined && { status }),
    ...(address !== undefined && { wallet: address }),
  }
}

const HEADER = ['ID', 'STATE', 'CREATED', 'FROM', 'TO', 'WALLET']

function toRow(swap: ListedSwap): string[] {
  const { id, state, createdAt, originChain, inputAmount, inputToken, destinationChain, wallet } = swap
  return [
    ...[id, state, createdAt.toISOString(), `${inputAmount} ${originChain}:${inputToken}`],
    ...[`${swap.quotedOutput} ${destinationChain}:${swap.outputToken}`, wallet],
  ]
}

async function show({ env, output, flags, rest }: Run): Promise<void> {
  const id = getId(rest)
  const swap = await withDatabase(findPlace(env), 'swaps', (pool) => findSwapRecord(pool, id))
  if (!swap) throw new UsageError(`There is no swap ${id}.`)
  if (flags.json) return output.out(JSON.stringify(swap, null, 2))
  const rows = Object.entries(swap).filter(([, value]) => value !== null)
  output.out(toTable(rows.map(([name, value]) => [name, toText(value)])))
}

async function trace({ env, output, flags, rest }: Run): Promise<void> {
  const id = getId(rest)
  const lines = await withDatabase(findPlace(env), 'swaps', (pool) => traceSwap(pool, id))
  if (lines.length === 0) throw new UsageError(`There is no swap ${id}.`)
  output.out(flags.json ? JSON.stringify(lines, null, 2) : toTable(lines.map(toLine)))
}

function toLine({ at, what, detail }: TraceLine): string[] {
  const details = Object.entries(detail).map(([name, value]) => `${name} ${toText(value)}`)
  return [at.toISOString(), what, details.join(', ')]
}

async function listLost({ env, output, flags, rest }: Run): Promise<void> {
  refuseArguments('lost', rest)
  const lost = await withDatabase(findPlace(env), 'swaps', findLostInputs)
  const rows = lost.map(({ swapId, chainId, cents, at }) => ({
    ...{ swapId, chainId, usd: formatCents(cents), at: at.toISOString() },
  }))
  if (flags.json) return output.out(JSON.stringify(rows, null, 2))
  const table = rows.map(({ swapId, chainId, usd, at }) => [swapId, String(chainId), usd, at])
  output.out(toTable([['ID', 'CHAIN', 'USD', 'SINCE'], ...table]))
}

async function writeOff({ env, output, flags, rest }: Run): Promise<void> {
  const swapId = getId(rest)
  const note = flags.note?.trim()
  if (!note) throw new UsageError('--note is needed: why? Whoever looks at it later will want to know.')
  const isWritten = await withDatabase(findPlace(env), 'swaps', (pool) =>
    writeOffInput(pool, { swapId, note }),
  )
  if (!isWritten)
    throw new UsageError(
      `The input of ${swapId} is not lost, or written off already. swaps lost lists those.`,
    )
  output.hint(`Written off: the input of ${swapId}.`)
}

const toText = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value))

function refuseArguments(command: string, rest: readonly string[]): void {
  if (rest.length > 0)
    throw new UsageError(`swaps ${command} takes no argument ${rest.join(' ')}. Try --help.`)
}

function getId([id, ...more]: string[]): string {
  if (!id || more.length > 0) throw new UsageError('Say which swap: swaps list shows the ids.')
  return id
}

function parseLimit(text = '20'): number {
  const limit = Number(text)
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw new UsageError(`--limit must be 1..${MAX_LIMIT}.`)
  return limit
}

function parse(args: string[]) {
  const text = { type: 'string' } as const
  const options = { status: text, wallet: text, limit: text, note: text, json: { type: 'boolean' } } as const
  return parseFlags({ args, options, allowPositionals: true })
}
