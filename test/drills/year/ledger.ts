import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type End, moneyOf } from '../journeys.ts'
import type { Chain, Swapped } from '../traffic.ts'
import { solanaIn } from './adding.ts'
import { advance, type Month, PATIENT_MS, service } from './month.ts'

const AFTER_EVERY_DEADLINE = 600
const DAY_MS = 86_400_000

/** Of the USDC of each vault. */
export async function readVaults(month: Month): Promise<Map<Chain, bigint>> {
  const { alpha, beta } = month.world
  const { solana } = month
  const isServed = month.readConfig().chains.some(({ family }) => family === 'solana')
  return new Map<Chain, bigint>([
    ['alpha', await alpha.balanceOf(alpha.contracts.vault, 'USDC')],
    ['beta', await beta.balanceOf(beta.contracts.vault, 'USDC')],
    ['solana', isServed ? await solana.balanceOf(solanaIn(month).vault, solana.token('USDC')) : 0n],
  ])
}

/** Every swap ends: no deadline is left. */
export async function endTraffic(month: Month): Promise<void> {
  const { solana, traffic } = month
  traffic.end()
  await traffic.over
  const areOver = async (which: string) => {
    const open = await month.query(
      `select 1 from swaps s where s.state not in ('closed', 'refunded', 'failed') and (${which}) limit 1`,
    )
    return open.length === 0
  }
  const withOutcome = 's.delivery_tx_hash is not null or not s.log_lost'
  await month.until('every swap with a known outcome is over', () => areOver(withOutcome), PATIENT_MS)
  await advance(month, AFTER_EVERY_DEADLINE, 'every deadline passes')
  await solana.dev.dev_advanceClock(AFTER_EVERY_DEADLINE).send()
  await month.until('every swap is over', () => areOver('true'), PATIENT_MS)
}

/** From the chains alone: every wallet has its whole output or its whole input, and each vault what that leaves. */
export async function judgeChains(month: Month, before: ReadonlyMap<Chain, bigint>): Promise<void> {
  const due = new Map(before)
  const add = (chain: Chain, amount: bigint) => void due.set(chain, (due.get(chain) ?? 0n) + amount)
  for (const [chain, amount] of month.movements) add(chain, amount)
  let settled = 0
  for (const swapped of month.traffic.made) {
    if ((await endOf(month, swapped)) !== 'settled') continue
    settled += 1
    add(swapped.from, moneyOf(swapped.journey, 'refunded').left)
    add(swapped.to, -swapped.journey.output)
  }
  const { length } = month.traffic.made
  month.expects(
    `of ${length} swaps ${settled} were paid once, ${length - settled} kept their input`,
    settled > 0,
  )
  const now = await readVaults(month)
  for (const [chain, amount] of due)
    month.expects(
      `the vault of ${chain} has ${amount}, exactly`,
      now.get(chain) === amount,
      `${now.get(chain)}`,
    )
}

async function endOf(month: Month, { journey }: Swapped): Promise<End> {
  const is = await journey.read()
  const end = (['settled', 'refunded'] as const).find((each) => {
    const { paid, left } = moneyOf(journey, each)
    return is.paid === paid && is.left === left
  })
  if (end) return end
  month.expects(`${journey.opHash} is whole`, false, `recipient ${is.paid}, wallet ${is.left}`)
  return 'failed'
}

type Line = { chain: string; account: string; asset: string; token: string; units: bigint }

/** From the exports: each journal balances, and what it calls inventory is what the vaults hold. */
export async function judgeBooks(month: Month): Promise<void> {
  const { folder, world, solana } = month
  await service(month, 'books --days 30 --swaps 100000')
  const today = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS)
  const [from, to] = [-30, 2].map((days) =>
    new Date(today.getTime() + days * DAY_MS).toISOString().slice(0, 10),
  )
  const file = (name: string) => join(folder, name)
  const period = `--from ${from} --to ${to}`
  await service(month, `books export ${period} --format csv > ${file('books.csv')}`)
  await service(month, `books export ${period} --format hledger > ${file('books.journal')}`)
  await service(month, `audit export ${period} --format csv > ${file('audit.csv')}`)
  await service(month, `audit export ${period} --format jsonl > ${file('audit.jsonl')}`)
  const lines = parseCsv(readFileSync(file('books.csv'), 'utf8'))
  const sums = sumBy(lines, ({ chain, token }) => `${chain} ${token}`)
  month.expects('the journal balances', sums.size > 0 && [...sums.values()].every((sum) => sum === 0n))
  const held = sumBy(
    lines.filter(({ account }) => account === 'inventory' || account === 'integrators'),
    ({ chain, token }) => `${chain} ${token}`,
  )
  const inVault = async (chain: string, token: string) => {
    const found = world.chains.find(({ name }) => name === chain)
    if (found) return found.balanceOf(found.contracts.vault, 'USDC')
    return solana.balanceOf(solanaIn(month).vault, token)
  }
  for (const chain of ['alpha', 'beta', 'solana']) {
    const side = chain === 'solana' ? solana : world.chainNamed(chain)
    const token = side.token('USDC')
    const booked = [...held].find(([key]) => key.toLowerCase() === `${chain} ${token}`.toLowerCase())?.[1]
    const is = await inVault(chain, token)
    month.expects(`the books have what the vault of ${chain} holds`, booked === is, `${booked}, not ${is}`)
  }
  const audited = readFileSync(file('audit.jsonl'), 'utf8')
  const ids = await month.query<{ id: string }>('select id from swaps')
  const missing = ids.filter(({ id }) => !audited.includes(id))
  month.expects(`the audit has all ${ids.length} swaps`, missing.length === 0, `without ${missing.length}`)
  await service(month, 'quarantine --errors')
  const stops = await service(month, 'stops --json')
  month.expects('nothing is stopped', stops.trim() === '[]', stops)
}

function parseCsv(text: string): Line[] {
  const [head = '', ...rows] = text.trim().split(/\r?\n/)
  const names = head.split(',')
  return rows.map((row) => {
    const cells = row.split(',')
    const cell = (name: string) => cells[names.indexOf(name)] ?? ''
    const [chain, account, asset, token] = ['chain', 'account', 'asset', 'token'].map(cell)
    return { chain, account, asset, token, units: BigInt(cell('units')) } as Line
  })
}

function sumBy(lines: readonly Line[], keyOf: (line: Line) => string): Map<string, bigint> {
  const sums = new Map<string, bigint>()
  for (const line of lines) sums.set(keyOf(line), (sums.get(keyOf(line)) ?? 0n) + line.units)
  return sums
}
