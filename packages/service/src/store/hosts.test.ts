import { stub } from '@geoswap/protocol/test/stub'
import type { ClientBase } from 'pg'
import { expect, test } from 'vitest'
import { isDatabaseUnavailable } from './db.ts'
import { createTimelineGuard, splitHosts } from './hosts.ts'

const serverOn = (timeline: string | null) =>
  stub<ClientBase>({ query: async () => ({ rows: [{ timeline }] }) })

test('a process refuses a server that was promoted after its first connection, and tells it', async () => {
  const seen: unknown[] = []
  const guard = createTimelineGuard((timelines) => void seen.push(timelines))
  await guard(serverOn('00000001'))
  await guard(serverOn('00000001'))
  const refused = await guard(serverOn('00000002')).catch((error: unknown) => error)

  expect(seen).toEqual([{ before: '00000001', now: '00000002' }])
  expect(isDatabaseUnavailable(refused)).toBe(true)
})

test('a standby is refused, and is no reason to end', async () => {
  const guard = createTimelineGuard(() => expect.unreachable())
  await expect(guard(serverOn(null))).rejects.toThrow('is a standby')
  await guard(serverOn('00000001'))
})

test('a URL with several servers is one URL for each, with the login and the options', () => {
  expect(splitHosts('postgres://a:b%2Cc@one:1,[::1]:2,three/db?sslmode=require')).toEqual([
    'postgres://a:b%2Cc@one:1/db?sslmode=require',
    'postgres://a:b%2Cc@[::1]:2/db?sslmode=require',
    'postgres://a:b%2Cc@three/db?sslmode=require',
  ])
  expect(splitHosts('postgres://a:b@one/db?options=x,y')).toEqual(['postgres://a:b@one/db?options=x,y'])
})
