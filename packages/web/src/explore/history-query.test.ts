import { expect, test } from 'vitest'
import { toHistoryQuery } from './history-query.ts'

const read = (text: string) => toHistoryQuery(new URLSearchParams(text))

test('filters of the URL become those of the call, with the last day included', () => {
  const { from = '', to = '', ...rest } = read('status=refunded&wallet=0x1&from=2026-01-02&to=2026-01-02')

  expect(rest).toEqual({ status: 'refunded', wallet: '0x1' })
  expect(Date.parse(to) - Date.parse(from)).toBe(86_400_000)
})

test('invalid filters are left out', () => {
  expect(read('status=lost&from=yesterday&to=2026-99-99&wallet=')).toEqual({})
})
