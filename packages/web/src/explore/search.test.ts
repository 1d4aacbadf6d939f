import { stub } from '@geoswap/protocol/test/stub'
import type { Client, HistoryQuery, SwapRecord } from '@geoswap/sdk'
import { describe, expect, test } from 'vitest'
import { findByTransaction, findRecord, readSearch, toHistoryQuery } from './search.ts'

describe('a search text', () => {
  test.each([
    [' swp_4f1c0d6a9b7e42c3a5d8e0f1b2c3d4e5 ', 'swap'],
    [`0x${'a'.repeat(64)}`, 'tx'],
    [`0x${'A'.repeat(40)}`, 'wallet'],
    ['5'.repeat(88), 'tx'],
    ['4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T', 'wallet'],
  ])('%s is a %s', (text, kind) => {
    expect(readSearch(text)).toEqual({ kind, value: text.trim() })
  })

  test.each(['', 'hello', '0x12', 'swp_'])('%j is not searchable', (text) => {
    expect(readSearch(text)).toBeUndefined()
  })
})

const swap = (swapId: string, hashes: Partial<SwapRecord> = {}) =>
  stub<SwapRecord>({ swapId, timeline: [], ...hashes })

/** Serves pages of history and records the queries. */
function clientWith(pages: SwapRecord[][]) {
  const asked: HistoryQuery[] = []
  const history = async (query: HistoryQuery = {}) => {
    asked.push(query)
    const index = Number(query.cursor ?? 0)
    const next = index + 1 < pages.length ? { nextCursor: String(index + 1) } : {}
    return { swaps: pages[index] ?? [], ...next }
  }
  return { client: stub<Client>({ history }), asked }
}

const { signal } = new AbortController()

describe('a swap by its transaction', () => {
  test('is found on a later page, in any case of the hash', async () => {
    const { client, asked } = clientWith([[swap('a')], [swap('b', { deliveryTxHash: '0xAB' })]])

    expect((await findByTransaction(client, '0xab', signal))?.swapId).toBe('b')
    expect(asked).toHaveLength(2)
  })

  test('is searched among a limited number of swaps', async () => {
    const { client, asked } = clientWith(Array.from({ length: 50 }, () => []))

    expect(await findByTransaction(client, '0xab', signal)).toBeUndefined()
    expect(asked).toHaveLength(10)
  })
})

test('the record of a swap is requested by the millisecond of its creation', async () => {
  const { client, asked } = clientWith([[swap('other'), swap('mine')]])

  const record = await findRecord(client, { swapId: 'mine', createdAt: '2026-01-02T03:04:12.999Z' }, signal)

  expect(record?.swapId).toBe('mine')
  expect(asked[0]).toMatchObject({ from: '2026-01-02T03:04:12.999Z', to: '2026-01-02T03:04:13.000Z' })
})

const read = (text: string) => toHistoryQuery(new URLSearchParams(text))

test('filters of the URL become those of the call, with the last day included', () => {
  const { from = '', to = '', ...rest } = read('status=refunded&wallet=0x1&from=2026-01-02&to=2026-01-02')

  expect(rest).toEqual({ status: 'refunded', wallet: '0x1' })
  expect(Date.parse(to) - Date.parse(from)).toBe(86_400_000)
})

test('invalid filters are left out', () => {
  expect(read('status=lost&from=yesterday&to=2026-99-99&wallet=')).toEqual({})
})
