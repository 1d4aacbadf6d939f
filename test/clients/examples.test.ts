import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, inject, test } from 'vitest'

const examples = ['first-swap', 'solana-swap']

test.each(examples)('the example %s settles', async (name) => {
  const folder = await mkdtemp(join(tmpdir(), 'geoswap-example-'))
  const file = join(folder, 'local.json')
  await writeFile(file, JSON.stringify(inject('local')))

  const { stdout } = await promisify(execFile)(process.execPath, [`examples/${name}.mjs`, file])
  await rm(folder, { recursive: true })

  expect(JSON.parse(stdout)).toMatchObject({ status: 'settled' })
})
