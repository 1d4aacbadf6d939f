import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { NETWORK_TEXT } from '../../test/support/network.ts'
import { findNetwork, findNetworkNames } from './served.ts'

const home = mkdtempSync(join(tmpdir(), 'geoswap-served-'))
afterAll(() => rmSync(home, { recursive: true }))
writeFileSync(join(home, 'service.json'), NETWORK_TEXT)
writeFileSync(join(home, 'secrets.json'), JSON.stringify({ databaseUrl: 'postgres://local' }))
writeFileSync(join(home, 'url'), 'postgres://elsewhere')

test('the chains of the local network are used only with its own database', () => {
  expect(findNetwork({ GEOSWAP_HOME: home }).network).toBe('test')
})

test('a command without node access needs no key of a provider', () => {
  const file = join(home, 'keyed.json')
  writeFileSync(file, NETWORK_TEXT.replace('two.base.example', ['two.base.example/$', '{BASE_KEY}'].join('')))
  const env = { DATABASE_URL: 'postgres://elsewhere', GEOSWAP_CONFIG: file }

  expect(findNetworkNames(env).chains.map(({ name }) => name)).toEqual(['base', 'solana'])
  expect(() => findNetwork(env)).toThrow('BASE_KEY is not set')
})

test.each([
  ['given', { DATABASE_URL: 'postgres://elsewhere' }],
  ['given by a file', { DATABASE_URL_FILE: join(home, 'url') }],
])('a database that is %s is never combined with the chains of the local network', (_, env) => {
  expect(() => findNetwork({ GEOSWAP_HOME: home, ...env })).toThrow('GEOSWAP_CONFIG is not set')
})
