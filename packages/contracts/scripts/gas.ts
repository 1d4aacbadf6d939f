import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { measure4337 } from './gas-4337.ts'
import { measureRows } from './gas-rows.ts'
import type { GasRow } from './gas-scene.ts'

const snapshotFile = new URL('../gas.snapshot.json', import.meta.url)

/** Measured once with the same token: Across's npm package asks for a newer Node, the others publish no bytecode. */
const cited = [
  { name: 'Relay through Calibur, input, one per transaction, no on-chain refund', gas: 78_366 },
  { name: 'Porto, input, one per transaction', gas: 94_763 },
  { name: 'Porto, input, 5 per transaction', gas: 64_223 },
  { name: 'Porto, input, 20 per transaction', gas: 58_251 },
  { name: 'Across deposit, one per transaction, after an approval', gas: 83_376 },
  { name: 'Across fillRelay, one per transaction', gas: 89_087 },
  { name: 'Across fillRelay, 20 per transaction', gas: 51_312 },
  { name: 'Across native fillRelay, one per transaction', gas: 106_507 },
  { name: 'Across gasless deposit, one per transaction', gas: 118_269 },
  { name: "Relay's unprotected transfer, one per transaction", gas: 34_677 },
  { name: "Relay's release of one claim", gas: 81_290 },
]

type Snapshot = Record<string, number>

function readSnapshot(): Snapshot {
  return existsSync(snapshotFile) ? JSON.parse(readFileSync(snapshotFile, 'utf8')) : {}
}

function toLine(row: GasRow, before: number | undefined): string {
  const change = before === undefined ? 'new' : before === row.gas ? '' : `${row.gas - before}`
  return `| ${row.name} | ${format(row.gas)} | ${format(row.goal)} | ${change} |`
}

const format = (gas: number) => gas.toLocaleString('en-US')

const rows = await measureRows()
const before = readSnapshot()
console.log('| per op, steady state, OpenZeppelin ERC-20 | gas | goal | change |\n|---|---:|---:|---:|')
for (const row of rows) console.log(toLine(row, before[row.name]))

console.log('\n| peer | gas | source |\n|---|---:|---|')
for (const { name, gas } of await measure4337()) console.log(`| ${name} | ${format(gas)} | this run |`)
for (const { name, gas } of cited) console.log(`| ${name} | ${format(gas)} | cited |`)

if (process.argv.includes('--write')) {
  const snapshot: Snapshot = Object.fromEntries(rows.map(({ name, gas }) => [name, gas]))
  writeFileSync(snapshotFile, `${JSON.stringify(snapshot, null, 2)}\n`)
} else {
  const risen = rows.filter(({ name, gas }) => gas > (before[name] ?? 0))
  const missed = rows.filter(({ gas, goal }) => gas > goal)
  for (const { name } of risen) console.error(`rose above the snapshot: ${name}`)
  for (const { name } of missed) console.error(`above its goal: ${name}`)
  if (risen.length > 0 || missed.length > 0) process.exitCode = 1
}
