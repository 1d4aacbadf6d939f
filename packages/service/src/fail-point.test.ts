import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { armFailPoints } from './fail-point.ts'

const file = fileURLToPath(new URL('./fail-point.ts', import.meta.url))

/** A process that reaches this point three times, unless it ends there. */
function passThrice(armed: string) {
  const script = `const { armFailPoints, failPoint } = await import(${JSON.stringify(file)})
    ${armed && `armFailPoints(${JSON.stringify(armed)})`}
    for (const time of [1, 2, 3]) { console.log(time); failPoint('after accept') }`
  const command = ['--import', 'tsx', '--input-type=module', '--eval', script]
  const { signal, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' })
  return { signal, passed: stdout.trim().split('\n').length, said: stderr.trim() }
}

test('an armed fail-point kills the process at that point, and reports it', () => {
  const said = 'fail-point after accept'

  expect(passThrice('after accept')).toEqual({ signal: 'SIGKILL', passed: 1, said })
  expect(passThrice('before lockSeen, after accept:2')).toEqual({ signal: 'SIGKILL', passed: 2, said })
})

test('an unarmed fail-point does nothing', () => {
  expect(passThrice('')).toEqual({ signal: null, passed: 3, said: '' })
  expect(passThrice('before accept')).toEqual({ signal: null, passed: 3, said: '' })
})

test('an unknown fail-point cannot be armed', () => {
  expect(() => armFailPoints('after lunch')).toThrow('after lunch')
})
