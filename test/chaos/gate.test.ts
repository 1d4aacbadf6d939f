import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { drawGate } from '../chaos/gate.ts'
import { run } from '../chaos/run.ts'
import { runChecker } from '../chaos/run-checker.ts'

// About a hundred seconds on an idle machine. The run itself ends when nothing moves any more.
const MOST_SECONDS = 3_600
// Reports where the time went, also on success.
const say = (line: string) => void process.stdout.write(`${line}\n`)

test(
  'sixty swaps and more, with a crash at every point where a process can end, break no rule and all end',
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'geoswap-gate-'))
    const running = await run({ plan: drawGate({ seed: 1, swaps: 60 }), dir, say })

    const verdict = await runChecker({ dir, quiet: true }).finally(running.stop)

    expect(verdict, `the run is in ${dir}`).toEqual({ violations: [], missing: [] })
    rmSync(dir, { recursive: true, force: true })
  },
  MOST_SECONDS * 1_000,
)
