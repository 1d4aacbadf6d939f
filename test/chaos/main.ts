import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { drawGate } from './gate.ts'
import { type Mutant, mutants } from './mutants.ts'
import { draw, drawQuiet, type Plan } from './plan.ts'
import { run } from './run.ts'
import { runChecker, type Verdict } from './run-checker.ts'
import { drawShape } from './shape-plan.ts'
import { runSubmits } from './submits.ts'

const USAGE = `npm run chaos -- [options]

  --swaps N      how many swaps (default 300)
  --seeds N      how many runs, each with the next seed (default 1)
  --seed N       the first seed (default 1)
  --replay FILE  the plan of an earlier run, instead of drawing one
  --shape NAME   mainnet: chains that behave like public ones
  --gate         the short form: every fail-point at least once, and no more than that
  --mutants      nothing but builds with one rule off, each of which has to be caught; names of some as arguments
  --no-mutants   leaves them out of the full run
  --submits N    nothing but submissions, this many, while the API and the database are killed: none may be lost
  --keep         leaves the folder of a clean run behind; that of any other stays
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    swaps: { type: 'string', default: '300' },
    seeds: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    replay: { type: 'string' },
    shape: { type: 'string' },
    gate: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    'no-mutants': { type: 'boolean', default: false },
    submits: { type: 'string' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

async function runOne(plan: Plan, mutant?: Mutant, isQuiet = mutant !== undefined): Promise<Verdict> {
  const dir = mkdtempSync(join(tmpdir(), `geoswap-chaos-${mutant?.id ?? plan.seed}-`))
  const faults = plan.isGate ? 'faults until all were seen' : `${plan.seconds} s of faults`
  console.log(`seed ${plan.seed}: ${plan.clients.length} swaps, ${faults}, in ${dir}`)
  const say = (line: string) => console.log(`  ${line}`)
  const running = await run({ plan, dir, say, ...(mutant && { mutant }) })
  const verdict = await runChecker({ dir, quiet: isQuiet }).finally(running.stop)
  const isClean = verdict.violations.length + verdict.missing.length === 0
  if ((isClean || isQuiet) && !values.keep) rmSync(dir, { recursive: true, force: true })
  return verdict
}

function plans(): Plan[] {
  if (values.replay) return [JSON.parse(readFileSync(values.replay, 'utf8'))]
  return Array.from({ length: Number(values.seeds) }, (_, index) =>
    drawer()({ seed: Number(values.seed) + index, swaps: Number(values.swaps) }),
  )
}

function drawer(): typeof draw {
  if (values.shape === 'mainnet') return drawShape
  if (values.shape !== undefined) throw new Error('--shape is mainnet')
  return values.gate ? drawGate : draw
}

async function runPlans(): Promise<boolean> {
  let isClean = true
  for (const plan of plans()) {
    const { violations, missing } = await runOne(plan)
    if (violations.length + missing.length > 0) isClean = false
  }
  return isClean
}

const brokenIn = ({ violations }: Verdict) => [...new Set(violations.map(({ invariant }) => invariant))]

/**
 * Each mutant must break its invariant, and the checker must find it; the build with all rules must break
 * none.
 */
async function runMutants(): Promise<boolean> {
  const wanted = mutants.filter(({ id }) => positionals.length === 0 || positionals.includes(id))
  const plan = drawQuiet(Number(values.seed))
  const table: string[] = []
  const note = (isFine: boolean, name: string, found: readonly string[], what: string) => {
    table.push(`${isFine ? 'ok    ' : 'WRONG '} ${name.padEnd(8)} ${found.join(' ').padEnd(36)} ${what}`)
    console.log(table.at(-1))
  }
  if (positionals.length === 0 || positionals.includes('control')) {
    const found = brokenIn(await runOne({ ...plan, drainSeconds: 150 }, undefined, true))
    note(found.length === 0, 'control', found, 'with every rule')
  }
  for (const mutant of wanted) {
    const found = brokenIn(await runOne(plan, mutant))
    note(
      found.some((invariant) => mutant.breaks.includes(invariant)),
      ...([mutant.id, found, mutant.what] as const),
    )
  }
  console.log(`\n${table.join('\n')}`)
  return table.every((line) => line.startsWith('ok'))
}

async function runOnlySubmits(submits: number): Promise<boolean> {
  const dir = mkdtempSync(join(tmpdir(), 'geoswap-submits-'))
  const started = Date.now()
  const report = await runSubmits({
    submits,
    seed: Number(values.seed),
    dir,
    say: (line) => console.log(`  ${line}`),
  })
  const { lost, changed } = report
  console.log(`\nacknowledged submissions      ${report.acknowledged}`)
  console.log(`killed: processes of the API  ${report.killed}`)
  console.log(`killed: database              ${report.databaseKilled}`)
  console.log(`sent again, unanswered        ${report.unanswered}`)
  console.log(`lost                          ${lost.length} ${lost.slice(0, 5).join(', ')}`)
  console.log(`answered otherwise            ${changed.length} ${changed.slice(0, 5).join(', ')}`)
  console.log(`seconds                       ${Math.round((Date.now() - started) / 1_000)}`)
  const isClean = lost.length + changed.length === 0
  if (isClean && !values.keep) rmSync(dir, { recursive: true, force: true })
  return isClean
}

async function runAsked(): Promise<boolean> {
  if (values.submits) return runOnlySubmits(Number(values.submits))
  if (values.mutants) return runMutants()
  const isClean = await runPlans()
  const isWhole = !(values.gate || values.shape || values.replay || values['no-mutants'])
  return (isWhole ? await runMutants() : true) && isClean
}

if (values.help) {
  console.log(USAGE)
  process.exit(0)
}
process.exit((await runAsked()) ? 0 : 1)
