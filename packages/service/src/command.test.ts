import { BaseError } from 'viem'
import { expect, test } from 'vitest'
import { describeError, parseSubcommand, UsageError } from './command.ts'

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

test.each(['fly', 'toString', 'constructor'])('%s is not a command', (name) => {
  const parse = () => parseSubcommand({ args: [name], options: {}, commands: {} })

  expect(parse).toThrow(new UsageError(`Unknown command ${name}. Try --help.`))
})

test('a missing command is refused with the names of those there are', () => {
  const commands = { create: async () => {}, list: async () => {} }
  const parse = () => parseSubcommand({ args: [], options: {}, commands })

  expect(parse).toThrow(new UsageError('Command missing: use create, list. Try --help.'))
})
