import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { bundle, MAX_GZIP_BYTES, measureBundle } from '../scripts/bundle.ts'

test('the bundle for browsers stays under 26.5 kB gzipped', async () => {
  const { gzipBytes } = await measureBundle()

  expect(gzipBytes).toBeLessThan(MAX_GZIP_BYTES)
})

test('the bundle needs nothing but viem', async () => {
  const text = await bundle({ minify: false })

  const imported = [...text.matchAll(/from "([^"]+)"/g)].map(([, name]) => name)
  expect(new Set(imported)).toEqual(new Set(['viem']))
})

test('payments by x402 add less than 17.5 kB, and share the errors of the rest', async () => {
  const text = await bundle({ minify: true, entry: 'x402/pay-x402' })
  const readable = await bundle({ minify: false, entry: 'x402/pay-x402' })

  const imported = [...readable.matchAll(/from "([^"]+)"/g)].map(([, name]) => name)
  expect(new Set(imported)).toEqual(new Set(['viem', '../index.js']))
  expect(gzipSync(text, { level: 9 }).length).toBeLessThan(17_500)
})
