import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { patience } from '../patience.ts'

const HOUR_MS = 3_600_000
const clock = new URL('../chaos/clock.ts', import.meta.url).href

test('the clock of a process in a run is shifted as ordered, for all its readers', async () => {
  const script = `await import('${clock}')
    process.on('message', () => process.send([Date.now(), new Date().getTime(), new Date(5).getTime()]))
    setInterval(() => {}, 1_000)
    process.send('ready')`
  const command = ['--import', 'tsx', '--input-type=module', '--eval', script]
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const heard = async () => (await once(child, 'message'))[0]
  expect(await heard()).toBe('ready')

  child.send({ clockMs: HOUR_MS })
  const [now, made, given] = await heard()
  child.send({ clockMs: 0 })
  const [again] = await heard()
  child.kill()

  expect(now - Date.now()).toBeGreaterThan(HOUR_MS - 10_000)
  expect(made - now).toBeLessThan(1_000 * patience)
  expect(given).toBe(5)
  expect(Math.abs(again - Date.now())).toBeLessThan(10_000)
})
