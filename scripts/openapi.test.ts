import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { ROOT } from './sources.ts'

test('redocly finds no error and no warning in the OpenAPI document, examples included', async () => {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const lint = ['node_modules/@redocly/cli/bin/cli.js', 'lint', 'docs/openapi.json', '--format=json']

  const { stdout } = await promisify(execFile)(process.execPath, lint, { cwd: ROOT, env })

  expect(JSON.parse(stdout)).toMatchObject({ totals: { errors: 0, warnings: 0, ignored: 0 }, problems: [] })
})
