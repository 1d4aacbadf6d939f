import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { expectError } from '../../test/support/http-errors.ts'
import { createTestServer } from '../../test/support/http-server.ts'
import { findDiscoveryProblems } from '../config/url-problems.ts'
import { DISCOVERY_PATHS } from './discovery.ts'

const discovery = { url: 'https://swap.example/geoswap', name: 'Example swaps' }
const [card = '', registration = '', index = ''] = DISCOVERY_PATHS

test('the documents are served without a key, at the root and under the prefix', async () => {
  const { app } = await createTestServer({ discovery, basePath: '/geoswap' })
  const get = async (url: string) => (await app.inject({ url })).json()

  const [atRoot, underPrefix] = [await get(card), await get(`/geoswap${card}`)]

  expect(atRoot).toEqual(underPrefix)
  expect(atRoot).toMatchObject({ name: 'Example swaps', supportedInterfaces: [{ url: discovery.url }] })
  expect((await get(registration)).services).toContainEqual({
    ...{ name: 'A2A', version: '1.0' },
    endpoint: 'https://swap.example/geoswap/.well-known/agent-card.json',
  })
})

test('no header of a request gets into a document', async () => {
  const { app } = await createTestServer({ discovery })
  const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' }

  const replies = await Promise.all(DISCOVERY_PATHS.map((url) => app.inject({ url, headers })))

  expect(replies.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200])
  for (const { body } of replies) expect(body).not.toContain('evil')
})

test('404 says that the operator published nothing, and the skills are there all the same', async () => {
  const { app } = await createTestServer()

  const refused = await app.inject({ url: card })

  expectError(refused, 404, 'NOT_FOUND')
  expect(refused.json().message).toContain('discovery')
  expect((await app.inject({ url: registration })).statusCode).toBe(404)
  expect((await app.inject({ url: index })).statusCode).toBe(200)
  expect((await app.inject({ method: 'POST', url: card })).statusCode).toBe(405)
})

test('the digest of a skill is that of the bytes that its URL serves', async () => {
  const { app } = await createTestServer({ basePath: '/geoswap' })
  const { skills } = (await app.inject({ url: index })).json()

  const { rawPayload, statusCode } = await app.inject({ url: skills[0].url })

  expect([statusCode, skills[0].name]).toEqual([200, 'geoswap'])
  expect(skills[0].digest).toBe(`sha256:${createHash('sha256').update(rawPayload).digest('hex')}`)
})

test.each<[string, string, object]>([
  ['must be https', '/discovery/url', { url: 'http://swap.example' }],
  ['must not end with a slash', '/discovery/url', { url: 'https://swap.example/' }],
  ['with host and path only', '/discovery/url', { url: 'https://swap.example?key=1' }],
  ['with host and path only', '/discovery/url', { url: 'https://u:p@swap.example' }],
  ['as browsers write it', '/discovery/url', { url: 'https://swap.example/a b' }],
  ['settings are not replaced', '/discovery/url', { url: `https://swap.example/\${KEY}` }],
  ['must be https', '/discovery/image', { url: 'https://swap.example', image: 'http://swap.example/x.png' }],
])('a configuration whose documents would mislead is refused: %s', (message, path, discovery) => {
  const [problem] = findDiscoveryProblems({ discovery: discovery as { url: string } })

  expect(problem).toEqual({ path, message: expect.stringContaining(message) })
})

test.each(['https://swap.example', 'https://swap.example/geoswap', 'http://127.0.0.1:3000'])(
  '%s can be published',
  (url) => {
    expect(findDiscoveryProblems({ discovery: { url } })).toEqual([])
  },
)
