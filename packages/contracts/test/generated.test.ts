import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { test } from 'vitest'

const script = fileURLToPath(new URL('../scripts/generate.ts', import.meta.url))

test('the committed interfaces, code and snapshots are what the sources compile to', async () => {
  await promisify(execFile)(process.execPath, ['--import', 'tsx', script, '--check', '--compile'])
}, 600_000)
