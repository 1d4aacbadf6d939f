import { BaseError } from 'viem'
import { expect, test } from 'vitest'
import { describeError, runSubcommand } from './command.ts'

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' })

test.each([
  ['one address refuses', refused],
  ['each of its addresses refuses', new AggregateError([refused, refused])],
])('a database of which %s is reported as unreachable', (_, error) => {
  expect(describeError(error)).toBe(
    'The database cannot be reached. Is it running, and is DATABASE_URL right?',
  )
})

test('a missing permission names the required role', () => {
  const error = Object.assign(new Error('permission denied for table api_keys'), { code: '42501' })

  expect(describeError(error)).toMatch(/permission denied for table api_keys\. .*geoswap_operator/)
})

test('a refusal of a chain is reported in one line', () => {
  const error = new BaseError('Execution reverted for an unknown reason.', { details: 'URL: http://node' })
  expect(describeError(error)).toBe('Execution reverted for an unknown reason.')
})

test('any other error is reported by its message', () => {
  expect(describeError(new Error('GEOSWAP_CONFIG is not set'))).toBe('GEOSWAP_CONFIG is not set')
  expect(describeError('odd')).toBe('odd')
})

test.each(['fly', 'toString', 'constructor'])('%s is not a command', async (name) => {
  const hints: string[] = []
  const code = await runSubcommand({
    help: 'help',
    args: [name],
    options: {},
    commands: {},
    output: { out: () => {}, hint: (text) => hints.push(text) },
    run: async () => {},
  })

  expect(code).toBe(2)
  expect(hints).toEqual([`Unknown command ${name}. Try --help.`])
})
