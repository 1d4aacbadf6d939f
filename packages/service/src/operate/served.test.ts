import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { NETWORK_TEXT } from '../config/test-network.ts'
import { findNetwork } from './served.ts'

const home = mkdtempSync(join(tmpdir(), 'geoswap-served-'))
afterAll(() => rmSync(home, { recursive: true }))
writeFileSync(join(home, 'service.json'), NETWORK_TEXT)
writeFileSync(join(home, 'secrets.json'), JSON.stringify({ databaseUrl: 'postgres://local' }))
writeFileSync(join(home, 'url'), 'postgres://elsewhere')

test('the chains of the local network are for its own database', () => {
  expect(findNetwork({ GEOSWAP_HOME: home }).network).toBe('test')
})

test.each([
  ['named', { DATABASE_URL: 'postgres://elsewhere' }],
  ['named by a file', { DATABASE_URL_FILE: join(home, 'url') }],
])('a database that is %s is never looked at with the chains of the local network', (_, env) => {
  expect(() => findNetwork({ GEOSWAP_HOME: home, ...env })).toThrow('GEOSWAP_CONFIG is not set')
})
