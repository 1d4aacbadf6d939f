import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { ESCROW_PROGRAM_HASH } from '../src/program.gen.ts'
import { BATCH_CASES, createFuzzer, runBatch } from '../test/fuzz/batch.ts'

const RECORD = join(import.meta.dirname, '../../../.tmp/fuzz-solana.json')
const SAVE_EVERY = 200

type Progress = { program: string; batches: number; differences: string[] }

/** Progress of the same program; another program begins anew. */
function readProgress(): Progress {
  const fresh = { program: ESCROW_PROGRAM_HASH, batches: 0, differences: [] }
  if (!existsSync(RECORD)) return fresh
  const stored = JSON.parse(readFileSync(RECORD, 'utf8')) as Progress
  return stored.program === ESCROW_PROGRAM_HASH ? stored : fresh
}

function save(progress: Progress): void {
  mkdirSync(dirname(RECORD), { recursive: true })
  writeFileSync(RECORD, `${JSON.stringify(progress, null, 2)}\n`)
}

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '10000000' },
    minutes: { type: 'string', default: '600' },
  },
})
const progress = readProgress()
const wanted = Math.ceil(Number(values.cases) / BATCH_CASES)
const end = Date.now() + Number(values.minutes) * 60_000
const fuzzer = await createFuzzer()
while (progress.batches < wanted && Date.now() < end) {
  progress.differences.push(...runBatch(fuzzer, progress.batches))
  progress.batches += 1
  if (progress.batches % SAVE_EVERY === 0) save(progress)
  // The runtime's memory is freed between turns of the event loop.
  await setImmediate()
}
save(progress)
const cases = progress.batches * BATCH_CASES
console.log(`${cases} cases of ${values.cases}, ${progress.differences.length} differences: ${RECORD}`)
for (const difference of progress.differences.slice(0, 20)) console.log(difference)
process.exitCode = progress.differences.length === 0 ? 0 : 1
