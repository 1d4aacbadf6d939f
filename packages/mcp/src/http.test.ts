import { expect, test } from 'vitest'
import { refusalOf } from './http.ts'

const SERVER = { token: 'a token of 16 characters', port: 8321 }
const own = { host: '127.0.0.1:8321', authorization: `Bearer ${SERVER.token}` }
const statusOf = (headers: Record<string, string>, url = '/mcp') =>
  refusalOf({ url, headers }, SERVER)?.status

test('requests with the token are served under each name of this machine', () => {
  for (const host of ['127.0.0.1:8321', 'localhost:8321', '[::1]:8321'])
    expect(statusOf({ ...own, host, origin: `http://${host}` })).toBeUndefined()
})

test('a host name that DNS points to this machine is refused, with or without the token', () => {
  expect(statusOf({ ...own, host: 'attacker.example:8321' })).toBe(403)
  expect(statusOf({ ...own, host: '127.0.0.1' })).toBe(403)
  expect(statusOf({ authorization: own.authorization })).toBe(403)
})

test('a page of another origin is refused, with or without the token', () => {
  for (const origin of ['http://attacker.example', 'null', 'http://127.0.0.1:8322', 'https://127.0.0.1:8321'])
    expect(statusOf({ ...own, origin })).toBe(403)
})

test('requests without the token are refused', () => {
  expect(statusOf({ host: own.host })).toBe(401)
  expect(statusOf({ ...own, authorization: `Bearer ${SERVER.token}x` })).toBe(401)
  expect(statusOf({ ...own, authorization: SERVER.token })).toBe(401)
})

test('only one path is served', () => {
  expect(statusOf(own, '/')).toBe(404)
  expect(statusOf(own, '/mcp?a=b')).toBeUndefined()
})
