import { expect, test } from 'vitest'
import { UsageError } from '../command.ts'
import { listStops, pause, resume } from './stops.ts'

const output = {
  out: () => {
    throw new Error('unexpected database access')
  },
  hint: () => {
    throw new Error('unexpected output')
  },
}

test.each([
  ['pause', pause, ['--stop', '7', '--note', 'x'], '--stop'],
  ['pause', pause, ['--json', '--note', 'x'], '--json'],
  ['resume', resume, ['--json', '--note', 'x'], '--json'],
  ['stops', listStops, ['--chain', 'base'], '--chain'],
  ['stops', listStops, ['--note', 'x'], '--note'],
])('%s refuses an option of another command, and does nothing', async (_, command, args, flag) => {
  const refused = command(args, {}, output)

  await expect(refused).rejects.toThrow(UsageError)
  await expect(refused).rejects.toThrow(`Unknown option '${flag}'`)
})
