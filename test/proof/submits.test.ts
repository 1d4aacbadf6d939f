import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runSubmits } from '../chaos/submits.ts'

const SUBMITS = 100

test('every acknowledged submission is kept, whatever is killed meanwhile', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'geoswap-submits-'))

  const report = await runSubmits({ submits: SUBMITS, seed: 1, dir, say: () => {} })

  expect(report).toMatchObject({ acknowledged: SUBMITS, lost: [], changed: [] })
  expect(report.killed).toBeGreaterThan(0)
  rmSync(dir, { recursive: true, force: true })
}, 400_000)
