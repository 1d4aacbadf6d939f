import { expect, test } from 'vitest'
import { defineCommand, helpOf, parseCommand } from './command.ts'
import { commands } from './commands/all.ts'

const command = defineCommand({
  usage: 'FROM [--amount N]',
  about: 'Does it.',
  words: [1, 1],
  examples: ['here'],
  options: { amount: { type: 'string', value: 'N', about: 'how much' } },
  run: async () => 0,
})

test('words and options are separated', () => {
  const { words, values } = parseCommand('do', command, ['here', '--amount', '5', '--json'])

  expect(words).toEqual(['here'])
  expect({ ...values }).toEqual({ amount: '5', json: true })
})

test.each([
  ['an unknown option', ['here', '--amout', '5']],
  ['an option without its value', ['here', '--amount']],
  ['a missing word', []],
  ['a word too many', ['here', 'there']],
])('USAGE for %s: a typo never trades', (_what, args) => {
  expect(() => parseCommand('do', command, args)).toThrow(expect.objectContaining({ code: 'USAGE' }))
})

test('every command has a help text', async () => {
  for (const [name, { load }] of Object.entries(commands)) {
    const help = helpOf(name, await load())

    expect(help[0]).toMatch(new RegExp(`^geoswap ${name}`))
    expect(help.filter((line) => line.length > 120)).toEqual([])
    expect(help.join('\n')).toContain('--json')
  }
})
