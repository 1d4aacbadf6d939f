import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import { NETWORK_TEXT } from '../../test/support/network.ts'
import { runCommand } from '../command.ts'
import { readBooks } from '../store/books.ts'
import { savePrices } from '../store/exports.ts'
import { insertMovements, type NewMovement, readLedgerBalances } from '../store/ledger.ts'
import { showBooks } from './books.ts'
import { idleCallsOf } from './idle-calls.ts'

const database = useTestDatabase()
const folder = mkdtempSync(join(tmpdir(), 'journal-'))
afterAll(() => rmSync(folder, { recursive: true }))
const config = join(folder, 'network.json')
const CHAIN = 8_453
const usdc = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
writeFileSync(config, NETWORK_TEXT.replace(`"${usdc}"`, `"${usdc}", "decimals": 6`))

const COIN = '0x0000000000000000000000000000000000000000'

let parts = 0
const move = (debit: string, credit: string, amount: bigint, token = usdc, kind = 'locked') => {
  parts += 1
  return { source: '0x', part: parts, block: 1n, kind, token, amount, debit, credit } as NewMovement
}

beforeAll(async () => {
  const { pool } = database
  await insertMovements(pool, CHAIN, [
    move('wallet', 'locked', 10_000_000n),
    move('wallet', 'locked', 2_500_001n),
    move('locked', 'inventory', 9_999_999n, usdc, 'claimed'),
    move('inventory', 'wallet', 9_990_000n, usdc, 'delivered'),
    move('outside', 'inventory', 7n, '0xodd', 'received'),
    move('outside', 'inventory', 1n, COIN, 'received'),
  ])
  await pool.query(
    `insert into gas_days (day, chain_id, address, amount, usd_e6)
     values ((now() at time zone 'UTC')::date, $1, 'one', 1500000000000000, 3750000),
            ((now() at time zone 'UTC')::date, $1, 'two', 500000000000000, 1250001)`,
    [CHAIN],
  )
  await savePrices(
    pool,
    new Map([
      ['USDC', 10n ** 18n],
      ['ETH', 2_500n * 10n ** 18n + 1n],
    ]),
  )
})

const today = (days = 0) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

async function show(...args: string[]): Promise<string> {
  const out: string[] = []
  const output = { out: (text: string) => void out.push(text), hint: (text: string) => void out.push(text) }
  const env = { DATABASE_URL: database.url, GEOSWAP_CONFIG: config }
  expect(await runCommand(output, () => showBooks(args, env, output))).toBe(0)
  return out.join('\n')
}

const run = (format: string) => show('export', '--from', today(), '--to', today(1), '--format', format)

async function readCsv() {
  const [head = '', ...lines] = (await run('csv')).split('\n')
  return lines.map((line) => {
    const cells = line.split(',')
    return Object.fromEntries(head.split(',').map((name, index) => [name, cells[index] ?? '']))
  })
}

test('the books end with what nodes are asked while nothing happens', async () => {
  const { perSecond, perMonth } = idleCallsOf({ name: 'base', family: 'evm' })

  const lines = (await show('--days', '1')).split('\n')

  const row = lines.find((line) => line.startsWith('base ') && !line.includes(':'))
  expect(row?.split(/\s+/)).toEqual(['base', perSecond.toFixed(2), perMonth.toLocaleString('en')])
})

test('the journal has what moved on a day between two accounts, with its price', async () => {
  const rows = await readCsv()

  expect(rows.filter(({ kind }) => kind === 'locked')).toEqual([
    {
      ...{
        day: today(),
        chain: 'base',
        kind: 'locked',
        account: 'locked',
        asset: 'USDC',
        amount: '12.500001',
      },
      ...{ token: usdc, units: '12500001', priceUsd: '1', usd: '' },
    },
    expect.objectContaining({ account: 'wallet', amount: '-12.500001', units: '-12500001' }),
  ])
})

test('the postings of each account add up to the ledger, and those of gas to the books', async () => {
  const rows = await readCsv()
  const sums = new Map<string, bigint>()
  for (const { account, token, units, kind } of rows.filter(({ kind }) => kind !== 'gas'))
    sums.set(`${account} ${token}`, (sums.get(`${account} ${token}`) ?? 0n) + BigInt(units ?? kind ?? 0))

  const ledger = await readLedgerBalances(database.pool)
  expect(sums).toEqual(new Map(ledger.map(({ account, token, amount }) => [`${account} ${token}`, amount])))
  const [gas] = (await readBooks(database.pool, { days: 1 })).gas
  const spent = rows.find(({ kind, account }) => kind === 'gas' && account === 'network')
  expect([BigInt(spent?.['units'] ?? 0), spent?.['usd']]).toEqual([gas?.amount, '5.000001'])
  expect(gas?.usdE6).toBe(5_000_001n)
})

test('a transaction for hledger has two postings that balance, after the prices', async () => {
  const text = await run('hledger')

  expect(text).toContain(`P ${today()} ETH 2500.000000000000000001 USD\n`)
  const entries = text.split(/\n(?=\d{4}-)/).slice(1)
  expect(entries).toHaveLength(6)
  for (const entry of entries) {
    const [, credit = '', debit = ''] = entry.split('\n')
    const amountOf = (posting: string) => posting.trim().split(/ {2,}/)[1] ?? ''
    expect(amountOf(debit)).toBe(`-${amountOf(credit)}`)
  }
  expect(text).toContain(
    `${today()} base locked\n    base:locked  12.500001 USDC\n    base:wallet  -12.500001 USDC\n`,
  )
  expect(text).toContain('    base:inventory  7 "units of base:0xodd"\n')
})
