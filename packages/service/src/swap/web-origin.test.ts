import { expect, test } from 'vitest'
import { isWebOrigin } from '../config/url-problems.ts'

test.each([
  ['https://app.example', true],
  ['http://127.0.0.1:8080', true],
  ['https://app.example/', false],
  ['https://app.example/path', false],
  ['HTTPS://app.example', false],
  ['https://app.example:443', false],
  ['ws://app.example', false],
  ['null', false],
  ['', false],
])('%s is an origin as browsers send it: %s', (text, isOrigin) => {
  expect(isWebOrigin(text)).toBe(isOrigin)
})
