import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { assemble } from '@geoswap/sbpf'
import { ESCROW_PROGRAM_HASH, escrowProgram } from '../src/program.gen.ts'
import { createMutants } from '../test/mutants/mutate.ts'
import { createSuite, findFailure } from '../test/mutants/suite.ts'

const PACKAGE = join(import.meta.dirname, '..')
const RECORD = join(PACKAGE, '../../.tmp/mutants-solana.json')

type Progress = { program: string; mutants: number; batches: number; tried: number; survivors: string[] }

/** Progress of the same run; another program, other mutants or other cases begin anew. */
function readProgress(run: { mutants: number; batches: number }): Progress {
  const fresh = { program: ESCROW_PROGRAM_HASH, ...run, tried: 0, survivors: [] }
  if (!existsSync(RECORD)) return fresh
  const stored = JSON.parse(readFileSync(RECORD, 'utf8')) as Progress
  const isSame = stored.program === ESCROW_PROGRAM_HASH && stored.mutants === run.mutants
  return isSame && stored.batches === run.batches ? stored : fresh
}

function save(progress: Progress): void {
  mkdirSync(dirname(RECORD), { recursive: true })
  writeFileSync(RECORD, `${JSON.stringify(progress, null, 2)}\n`)
}

/** Mutants that no case can notice, each block of them below its reason. */
function readAccepted(): Set<string> {
  const lines = readFileSync(join(PACKAGE, 'program/accepted-mutants.txt'), 'utf8').split('\n')
  return new Set(lines.filter((line) => line !== '' && !line.startsWith('#')))
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '600' },
    batches: { type: 'string', default: '80' },
  },
})
const mutants = createMutants(assemble(readFileSync(join(PACKAGE, 'program/escrow.s'), 'utf8')))
const progress = readProgress({ mutants: mutants.length, batches: Number(values.batches) })
const end = Date.now() + Number(values.minutes) * 60_000
const suite = await createSuite(progress.batches)
const own = findFailure(suite, escrowProgram)
if (own !== undefined) throw new Error(`The program itself fails: ${own}`)
while (progress.tried < mutants.length && Date.now() < end) {
  const mutant = mutants[progress.tried]
  if (!mutant) break
  if (findFailure(suite, mutant.elf) === undefined) {
    progress.survivors.push(mutant.name)
    console.log(`survived: ${mutant.name} (line ${mutant.line})`)
  }
  progress.tried += 1
  if (progress.tried % 20 === 0) save(progress)
}
save(progress)
const accepted = readAccepted()
const open = progress.survivors.filter((name) => !accepted.has(name))
const killed = progress.tried - progress.survivors.length
console.log(
  `${progress.tried} of ${mutants.length} mutants tried, ${killed} killed, ${open.length} open: ${RECORD}`,
)
process.exitCode = open.length === 0 ? 0 : 1
