import { expect, test } from 'vitest'
import { UsageError } from '../command.ts'
import { parseFormat, parsePeriod, toCsvLine } from './export.ts'

test.each<[string, unknown, string]>(
  (
    [
      ['plain', 'plain'],
      [null, ''],
      [undefined, ''],
      [12n, '12'],
      [-12n, '-12'],
      ['-0.5', '-0.5'],
      [new Date(0), '1970-01-01T00:00:00.000Z'],
      [['a', 'b'], 'a b'],
      ['a "b", c', '"a ""b"", c"'],
      ['two\nlines', '"two\nlines"'],
      ['=1+1', "'=1+1"],
      ['+1', "'+1"],
      ['-1+1', "'-1+1"],
      ['@now', "'@now"],
      ['\t=1', "'\t=1"],
      ['=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
    ] as const
  ).map(([value, cell]): [string, unknown, string] => [String(value), value, cell]),
)('the cell %j is written so that no spreadsheet runs it', (_, value, cell) => {
  expect(toCsvLine([value])).toBe(cell)
})

test('a period has whole days of UTC, without the last one', () => {
  expect(parsePeriod({ from: '2026-07-01', to: '2026-08-01' })).toEqual({
    from: new Date('2026-07-01T00:00:00Z'),
    to: new Date('2026-08-01T00:00:00Z'),
  })
})

test.each([
  {},
  { from: '2026-07-01' },
  { from: '2026-07-01', to: '2026-07-01' },
  { from: '2026-08-01', to: '2026-07-01' },
  { from: '2026-02-30', to: '2026-07-01' },
  { from: 'July', to: '2026-07-01' },
  { from: '2026-7-1', to: '2026-08-01' },
])('%j is no period', (given) => {
  expect(() => parsePeriod(given)).toThrow(UsageError)
})

test('another format than those of the command is refused', () => {
  expect(parseFormat(['csv', 'jsonl'], 'jsonl')).toBe('jsonl')
  expect(() => parseFormat(['csv', 'jsonl'], undefined)).toThrow('--format must be csv or jsonl')
})
