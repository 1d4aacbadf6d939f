import { expect, test } from 'vitest'
import { UsageError } from '../command.ts'
import { listStops, pause, resume } from './stops.ts'

const output = {
  out: () => {
    throw new Error('nothing was asked for')
  },
  hint: () => {
    throw new Error('nothing was done')
  },
}

test.each([
  ['pause', pause, ['--stop', '7', '--note', 'x'], '--stop'],
  ['pause', pause, ['--json', '--note', 'x'], '--json'],
  ['resume', resume, ['--json', '--note', 'x'], '--json'],
  ['stops', listStops, ['--chain', 'base'], '--chain'],
  ['stops', listStops, ['--note', 'x'], '--note'],
])('%s refuses what only another command knows, and does nothing', async (_, command, args, flag) => {
  const refused = command(args, {}, output)

  await expect(refused).rejects.toThrow(UsageError)
  await expect(refused).rejects.toThrow(`Unknown option '${flag}'`)
})
