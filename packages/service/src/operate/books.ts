import {
  type Env,
  findDatabaseTarget,
  type Output,
  parseFlags,
  toTable,
  UsageError,
  withDatabase,
} from '../command.ts'
import { readBooks } from '../store/books.ts'
import { type Books, type GasDay, type RouteDay, rentOf, scaleBooks } from '../swap/books.ts'
import { type Amounts, findAmounts } from './amounts.ts'

export const BOOKS_HELP = `books [--days N] [--swaps N] [--json]
      Shows what swaps earned and what their transactions cost, by day and route, and the gas by day and chain, of
      the last N days (default 7). Days are UTC. --swaps: also for that many swaps like these, such as those of a
      month that you expect.`

const MAX_DAYS = 366
const MONTH_DAYS = 30n

export async function showBooks(args: string[], env: Env, output: Output): Promise<number> {
  const text = { type: 'string' } as const
  const flags = parseFlags({ args, options: { days: text, swaps: text, json: { type: 'boolean' } } }).values
  const days = parseDays(flags.days)
  const swaps = parseSwaps(flags.swaps)
  const books = await withDatabase(findDatabaseTarget(env), 'books', (pool) => readBooks(pool, { days }))
  output.out(flags.json ? JSON.stringify(books, replaceBigint, 2) : describe(books, { days, swaps, env }))
  return 0
}

type Shown = Awaited<ReturnType<typeof readBooks>>
type Asked = { days: number; swaps: bigint | undefined; env: Env }

function describe({ gas, ...books }: Shown, { days, swaps, env }: Asked): string {
  const amounts = findAmounts(env)
  const routes = books.routes.map((route) => [
    route.day,
    sideOf(amounts, route.originChain, route.inputToken),
    sideOf(amounts, route.destinationChain, route.outputToken),
    `${route.settled}`,
    `${route.refunded}`,
    usd(route.volumeCents * 10_000n),
    ...[route.earnedE6, route.networkE6, route.profitE6].map(usd),
  ])
  const perMonth = (e6: bigint) => usd((e6 * MONTH_DAYS) / BigInt(days))
  const profit = books.earnedE6 - books.networkE6
  return [
    toTable([
      ['DAY', 'FROM', 'TO', 'SETTLED', 'REFUNDED', 'VOLUME', 'EARNED', 'NETWORK', 'PROFIT'],
      ...routes,
    ]),
    '',
    toTable([
      ['DAY', 'GAS', 'OF WHICH RENT', 'USD'],
      ...gas.map((each) => toGasRow(each, books.routes, amounts)),
    ]),
    '',
    `${days} days, USD: earned ${usd(books.earnedE6)}, network ${usd(books.networkE6)}, profit ${usd(profit)}`,
    `30 days like these: earned ${perMonth(books.earnedE6)}, network ${perMonth(books.networkE6)}`,
    ...(swaps === undefined ? [] : [describeSwaps(books, swaps)]),
  ].join('\n')
}

function describeSwaps(books: Books, swaps: bigint): string {
  const expected = scaleBooks(books, swaps)
  if (!expected) return `${swaps} swaps like these: no swap ended in these days`
  const { earnedE6, networkE6 } = expected
  const profit = usd(earnedE6 - networkE6)
  return `${swaps} swaps like these: earned ${usd(earnedE6)}, network ${usd(networkE6)}, profit ${profit}`
}

function toGasRow(gas: GasDay, routes: readonly RouteDay[], { amount, coin: coinOf }: Amounts): string[] {
  const { day, chainId } = gas
  const coin = coinOf(chainId)
  if (!coin) return [day, `${gas.amount} on ${chainId}`, '', usd(gas.usdE6)]
  const rent = coin.hasRent ? amount(chainId, coin.address, rentOf(routes, gas)) : ''
  return [day, amount(chainId, coin.address, gas.amount), rent, usd(gas.usdE6)]
}

/** The chain and symbol of a token. */
function sideOf({ amount }: Amounts, chainId: number, token: string): string {
  return amount(chainId, token, 0n).replace(/^0 (units of )?/, '')
}

/** From millionths of a USD, with four decimals: gas on a rollup costs less than a cent. */
function usd(e6: bigint): string {
  const sign = e6 < 0n ? '-' : ''
  const units = (e6 < 0n ? -e6 : e6) / 100n
  return `${sign}${units / 10_000n}.${String(units % 10_000n).padStart(4, '0')}`
}

const replaceBigint = (_: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)

function parseSwaps(text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,11}$/.test(text)) throw new UsageError('--swaps must be a whole number above 0.')
  return BigInt(text)
}

function parseDays(text = '7'): number {
  const days = Number(text)
  if (!Number.isInteger(days) || days < 1 || days > MAX_DAYS)
    throw new UsageError(`--days must be 1..${MAX_DAYS}.`)
  return days
}
