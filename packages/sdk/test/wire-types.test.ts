import { TERMINAL_STATUSES } from '@geoswap/wire'
import { expect, test } from 'vitest'
import { toType, wireTypes } from '../scripts/wire-types.ts'

test('a schema becomes the type that it describes, with its descriptions', () => {
  const text = { type: 'string', description: 'For people.' }
  const schema = {
    type: 'object',
    required: ['code', 'list'],
    properties: {
      code: { type: 'string', enum: ['A', 'B'] },
      list: { type: 'array', items: text },
      note: text,
    },
  }

  expect(toType(schema)).toBe(
    '{\n  code: "A" | "B"\n  list: Array<string>\n  /** For people. */\n  note?: string\n}',
  )
  expect(toType({ type: 'object', patternProperties: { '^.*$': {} } })).toBe(
    '{\n  [name: string]: unknown\n}',
  )
})

test('a schema of two types becomes their union', () => {
  expect(toType({ type: ['integer', 'string'] })).toBe('number | string')
})

test('a schema without a type is refused', () => {
  expect(() => toType({ type: 'tuple' })).toThrow('no type for a schema of type tuple')
  expect(() => wireTypes(['NoSuchReply'])).toThrow('wire has no schema NoSuchReply')
})

test('codes and statuses are unions', () => {
  expect(wireTypes(['TerminalStatus'])).toBe(
    `export type TerminalStatus = ${TERMINAL_STATUSES.map((status) => `"${status}"`).join(' | ')}\n`,
  )
  expect(wireTypes(['ErrorCode'])).toContain('"QUOTE_EXPIRED"')
})
