import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as books from './books.ts'
import { retryReads } from './concurrency.ts'
import { coverageOf, ENDS, type Row } from './coverage.ts'
import { type Check, type Evidence, gather, type Violation } from './evidence.ts'
import { escrowTotals } from './gifts.ts'
import { honestPace, p95, paceOf } from './honest-pace.ts'
import { type Input, readInput } from './input.ts'
import * as outcomes from './outcomes.ts'
import { provenDecisions } from './proofs.ts'
import { databaseSurvives } from './server-crashes.ts'
import { BUDGETS, boundedWaste, mostWasted, noGain, wasteOf } from './strangers.ts'
import { boundedThefts, theftsOf } from './thefts.ts'
import * as timing from './timing.ts'
import { conservation, readGas, spendBound, wasteBound } from './totals.ts'

// A separate program that examines a run at rest: the answers to clients, the proxies' traffic, the chains
// and the database. It shares no code with the service.

const checks: readonly Check[] = [
  ...[...Object.values(outcomes), ...Object.values(timing)],
  ...[books.writtenAhead, books.booksAtRest, books.boundedExposure, books.boundedLoss, books.segregation],
  ...[
    books.nonceDiscipline,
    books.feePayerOutflow,
    books.rentReturns,
    books.authority,
    books.deadlineOrder,
    books.secrecy,
  ],
  ...[honestPace, boundedWaste, noGain, escrowTotals],
  ...[provenDecisions, boundedThefts, conservation, spendBound, wasteBound, databaseSurvives],
]

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

function describe(row: Row): string {
  const mark = row.count >= row.least ? ' ' : row.isRequired ? '!' : '.'
  return `${mark} ${row.group.padEnd(11)} ${row.name.padEnd(28)} ${String(row.count).padStart(5)}`
}

async function printOutcomes(evidence: Evidence): Promise<void> {
  const { db, input } = evidence
  const counts = new Map<string, number>()
  for (const { state } of db.swaps) counts.set(state, (counts.get(state) ?? 0) + 1)
  const mix = [...counts].map(
    ([state, count]) => `${state} ${count} (${Math.round((100 * count) / db.swaps.length)} %)`,
  )
  print(`\n${db.swaps.length} swaps: ${mix.join(', ')}`)
  const ends = db.moves.filter(({ became }) => ENDS.includes(became)).map(({ at }) => at)
  const last = Math.max(0, Math.max(...ends) - input.facts.calmAt)
  print(`the last status was final ${(last / 1_000).toFixed(1)} s after the faults stopped, all was`)
  print(
    `at rest after ${(input.facts.quietMs / 1_000).toFixed(1)} s; ${db.attempts.length} transactions were signed,`,
  )
  print(`${input.traffic.length} came by a proxy, each looked up in the database at that moment`)
  const { all, useful, landed, reverted } = await readGas(evidence)
  const factor = (Number(all) / Number(useful)).toFixed(2)
  print(`${landed} EVM transactions landed, ${reverted} of them reverted; they burnt ${factor} times the gas`)
  print('of those that did something')
  for (const { chain, swaps, cents } of books.lossesOf(evidence)) {
    if (swaps === 0) continue
    const [lost, allowed] = [cents, input.setup.exposureCapCents].map((sum) => (sum / 100).toFixed(2))
    print(
      `a reorg of ${chain} took back the inputs of ${swaps} swaps that were paid: ${lost} USD, ${allowed} allowed`,
    )
  }
}

function printThefts(evidence: Evidence): void {
  const tokens = evidence.input.setup.local.chains.flatMap(({ chainId, name, tokens }) =>
    tokens.map((token) => ({ ...token, chainId, name })),
  )
  for (const { key, chainId, token, amount, swaps } of theftsOf(evidence)) {
    const found = tokens.find((each) => each.chainId === chainId && each.address === token)
    if (!found || amount === 0n) continue
    const whole = Number(amount) / 10 ** found.decimals
    const inputs = swaps > 0 ? `, the inputs of ${swaps} swaps` : ''
    print(`a stolen ${key} key took ${whole.toFixed(2)} ${found.symbol} on ${found.name}${inputs}`)
  }
}

async function printCrowd(evidence: Evidence): Promise<void> {
  if (!evidence.input.facts.hasCrowd) return
  const [alone, beside] = (['alone', 'beside'] as const).map((pace) => paceOf(evidence, pace).tookMs)
  const inSeconds = (tookMs: readonly number[] = []) => (p95(tookMs) / 1_000).toFixed(1)
  print(`of ${alone?.length} honest swaps without strangers, 95 % settled within ${inSeconds(alone)} s;`)
  print(`of ${beside?.length} beside them, within ${inSeconds(beside)} s`)
  const wasted = await wasteOf(evidence)
  for (const scope of ['wallet', 'account', 'chain'] as const) {
    const { cents } = mostWasted(wasted, scope)
    print(
      `strangers wasted ${cents.toFixed(2)} cents of gas of one ${scope} in an hour, of ${BUDGETS[scope]} allowed`,
    )
  }
}

function printViolations(violations: readonly Violation[]): void {
  const byInvariant = new Map<string, Violation[]>()
  for (const each of violations)
    byInvariant.set(each.invariant, [...(byInvariant.get(each.invariant) ?? []), each])
  for (const [invariant, found] of byInvariant) {
    print(`\n${invariant} is broken ${found.length} times:`)
    for (const { what } of found.slice(0, 5)) print(`  ${what}`)
  }
}

async function check(dir: string): Promise<boolean> {
  const input: Input = readInput(dir)
  const evidence = await retryReads(() => gather(input))
  const violations = (await Promise.all(checks.map((judge) => judge(evidence)))).flat()
  const rows = coverageOf(input, evidence.db)
  const { least } = input.facts
  const missing = rows.filter(({ count, isRequired, least }) => isRequired && count < least)
  for (const row of rows) print(describe(row))
  await printOutcomes(evidence)
  await printCrowd(evidence)
  printThefts(evidence)
  printViolations(violations)
  print(
    `\n${violations.length} violations; ${missing.length} of ${rows.length} rows seen fewer than ${least} times`,
  )
  writeFileSync(
    join(dir, 'verdict.json'),
    JSON.stringify({ violations, missing: missing.map(({ name }) => name) }),
  )
  return violations.length === 0 && missing.length === 0
}

const [dir] = process.argv.slice(2)
if (!dir) throw new Error('Which folder?')
// 1 is a verdict; an error that prevents one is not.
const isClean = await check(dir).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
  process.exit(2)
})
process.exit(isClean ? 0 : 1)
