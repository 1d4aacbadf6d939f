import { formatUnits } from 'viem'
import { type Env, type Output, parseFlags, toTable, UsageError, withDatabase } from '../command.ts'
import { readBooks } from '../store/books.ts'
import { type DayMovement, type DayPrice, readDayPrices, streamMovements } from '../store/exports.ts'
import { type Books, type GasDay, type RouteDay, rentOf, scaleBooks } from '../swap/books.ts'
import { type Amounts, findAmounts, findChains } from './amounts.ts'
import { PERIOD_OPTIONS, parseFormat, parsePeriod, toCsvLine, writePages } from './export.ts'
import { IDLE_PROCESSES, idleCallsOf } from './idle-calls.ts'

export const BOOKS_HELP = `books [--days N] [--swaps N] [--json]
      Shows what swaps earned and what their transactions cost, by day and route, and the gas by day and chain, of
      the last N days (default 7). Days are UTC. --swaps: also for that many swaps like these, such as those of a
      month that you expect.
  service books export --from DAY --to DAY --format csv|hledger
      Prints the ledger from one day (UTC) to before the other as a journal: what moved on each day between two accounts
      of a chain, with the prices of the day.`

const MAX_DAYS = 366
const MONTH_DAYS = 30n

export async function showBooks(args: string[], env: Env, output: Output): Promise<number> {
  if (args[0] === 'export') return exportJournal(args.slice(1), env, output)
  const text = { type: 'string' } as const
  const flags = parseFlags({ args, options: { days: text, swaps: text, json: { type: 'boolean' } } }).values
  const days = parseDays(flags.days)
  const swaps = parseSwaps(flags.swaps)
  const books = await withDatabase(env, 'books', (pool) => readBooks(pool, { days }))
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
    '',
    describeCalls(env),
  ].join('\n')
}

function describeSwaps(books: Books, swaps: bigint): string {
  const expected = scaleBooks(books, swaps)
  if (!expected) return `${swaps} swaps like these: no swap ended in these days`
  const { earnedE6, networkE6 } = expected
  const profit = usd(earnedE6 - networkE6)
  return `${swaps} swaps like these: earned ${usd(earnedE6)}, network ${usd(networkE6)}, profit ${profit}`
}

/** The calls to nodes without any swap. */
function describeCalls(env: Env): string {
  const rows = findChains(env).map((chain) => {
    const { measuredOn, perSecond, perMonth } = idleCallsOf(chain)
    const name = measuredOn === chain.name ? chain.name : `${chain.name}, as ${measuredOn}`
    return [name, perSecond.toFixed(2), perMonth.toLocaleString('en')]
  })
  const title = `Calls to nodes while nothing happens, by ${IDLE_PROCESSES}:`
  return [title, toTable([['CHAIN', 'A SECOND', '30 DAYS'], ...rows])].join('\n')
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

const FORMATS = ['csv', 'hledger'] as const
type Format = (typeof FORMATS)[number]

const COLUMNS = ['day', 'chain', 'kind', 'account', 'asset', 'amount', 'token', 'units', 'priceUsd', 'usd']

/** Prints the ledger as a journal: two postings for what moved on a day between two accounts. */
async function exportJournal(args: string[], env: Env, output: Output): Promise<number> {
  const { values } = parseFlags({ args, options: PERIOD_OPTIONS })
  const format = parseFormat(FORMATS, values.format)
  const period = parsePeriod(values)
  const amounts = findAmounts(env)
  await withDatabase(
    env,
    'books',
    async (pool) => {
      const prices = await readDayPrices(pool, period)
      const write = createWriters(amounts, prices)[format]
      output.out(write.begin)
      const pages = streamMovements(pool, { ...period, gasChains: amounts.gasChains })
      await writePages(output, pages, (page) => page.flatMap(write.lines))
    },
    { answerMs: 0 },
  )
  return 0
}

type Writer = { begin: string; lines(movement: DayMovement): string[] }

function createWriters(amounts: Amounts, prices: readonly DayPrice[]): Record<Format, Writer> {
  const entryOf = (movement: DayMovement) => toEntry(amounts, prices, movement)
  return {
    csv: { begin: toCsvLine(COLUMNS), lines: (movement) => toCsv(entryOf(movement)) },
    hledger: { begin: beginOf(prices), lines: (movement) => toHledger(entryOf(movement)) },
  }
}

type Entry = Omit<DayMovement, 'token'> & {
  chain: string
  asset: string
  token: string
  decimals: number
  price: string | undefined
}

/** A token that the configuration lacks counts in its smallest unit, as an asset of its own. */
function toEntry(amounts: Amounts, prices: readonly DayPrice[], movement: DayMovement): Entry {
  const { day, chainId } = movement
  const chain = amounts.chain(chainId)
  const token = movement.token ?? amounts.coin(chainId)?.address ?? ''
  const known = amounts.token(chainId, token)
  const asset = known?.asset ?? `units of ${chain}:${token}`
  const found = prices.find((each) => each.day === day && each.asset === asset)
  const price = found && formatUnits(found.priceE18, 18)
  return { ...movement, chain, asset, token, decimals: known?.decimals ?? 0, price }
}

function toCsv(entry: Entry): string[] {
  const { day, chain, kind, asset, token, decimals, amount, price, debit, credit, usdE6 } = entry
  const line = (account: string, units: bigint) => {
    const worth = usdE6 === undefined ? undefined : formatUnits(units < 0n ? -usdE6 : usdE6, 6)
    const cells = [day, chain, kind, account, asset, formatUnits(units, decimals), token, units, price, worth]
    return toCsvLine(cells)
  }
  return [line(credit, amount), line(debit, -amount)]
}

/** A commodity or account name that hledger reads as one word. */
const quoted = (name: string) => (/^[A-Za-z]+$/.test(name) ? name : `"${name.replaceAll('"', "'")}"`)
const toAccount = (chain: string, account: string) => `${chain}:${account}`

function toHledger(entry: Entry): string[] {
  const { day, chain, kind, asset, decimals, amount, debit, credit, usdE6 } = entry
  const posting = (account: string, units: bigint) =>
    `    ${toAccount(chain, account)}  ${formatUnits(units, decimals)} ${quoted(asset)}`
  const spent = usdE6 === undefined ? '' : `  ; ${formatUnits(usdE6, 6)} USD when it was spent`
  return [`${day} ${chain} ${kind}${spent}`, posting(credit, amount), posting(debit, -amount), '']
}

function beginOf(prices: readonly DayPrice[]): string {
  const lines = prices.map(
    ({ day, asset, priceE18 }) => `P ${day} ${quoted(asset)} ${formatUnits(priceE18, 18)} USD`,
  )
  return ['decimal-mark .', '', ...lines, ''].join('\n')
}
