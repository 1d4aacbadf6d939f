import { beforeEach, expect, test, vi } from 'vitest'
import { forget, keep, readSecret, readStored } from './storage.ts'

function createStorage() {
  const values = new Map<string, string>()
  return {
    values,
    getItem: (name: string) => values.get(name) ?? null,
    setItem: (name: string, value: string) => void values.set(name, value),
    removeItem: (name: string) => void values.delete(name),
  }
}

let tab: ReturnType<typeof createStorage>
let browser: ReturnType<typeof createStorage>
beforeEach(() => {
  tab = createStorage()
  browser = createStorage()
  vi.stubGlobal('sessionStorage', tab)
  vi.stubGlobal('localStorage', browser)
})

test('a secret stays in its tab', () => {
  keep('api-key', 'gsk_1')

  expect(readSecret('api-key')).toBe('gsk_1')
  expect([...browser.values]).toEqual([])
  forget('api-key')
  expect(readSecret('api-key')).toBeUndefined()
})

test('a secret that an earlier version stored in the browser is removed and not used', () => {
  browser.setItem('geoswap.api-key', '"gsk_old"')

  expect(readSecret('api-key')).toBeUndefined()
  expect([...browser.values]).toEqual([])
})

test('other values are found where they were stored, and foreign content is ignored', () => {
  keep('operations', [1], 'browser')
  tab.setItem('geoswap.order', 'not JSON')

  expect(readStored('operations')).toEqual([1])
  expect(readStored('order')).toBeUndefined()
})
