import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { findLocalNetwork } from './local-network.ts'

const network = {
  apiUrl: 'http://127.0.0.1:8080',
  apiKey: 'key',
  faucetUrl: 'http://localhost:1',
  chains: [],
}
let project: string
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'geoswap-project-'))
  mkdirSync(join(project, '.geoswap'), { mode: 0o755 })
  mkdirSync(join(project, 'deep', 'inside'), { recursive: true })
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(project, { recursive: true })
})

function leave(value: object): void {
  writeFileSync(join(project, '.geoswap', 'local.json'), JSON.stringify(value))
}

test('a running network is found from any folder of its project', () => {
  leave(network)

  expect(findLocalNetwork(join(project, 'deep', 'inside'), undefined)).toEqual(network)
})

test('a named folder is the only one searched', () => {
  leave(network)

  expect(findLocalNetwork(project, join(project, 'deep'))).toBeUndefined()
  expect(findLocalNetwork('/', join(project, '.geoswap'))).toEqual(network)
})

test.each(['apiUrl', 'faucetUrl'])('a %s on another machine is refused', (field) => {
  leave({ ...network, [field]: 'https://127.0.0.1.example' })

  expect(findLocalNetwork(project, undefined)).toBeUndefined()
})

test.each([
  ['node', { chains: [{ chainId: 1, name: 'alpha', rpcUrl: 'http://node.example' }] }],
  [
    'stream',
    { chains: [{ chainId: 1, name: 'alpha', rpcUrl: 'http://127.0.0.1:1', wsUrl: 'ws://node.example' }] },
  ],
  ['field that is not known yet', { later: { somewhere: ['https://node.example'] } }],
])('a %s on another machine is refused', (_name, change) => {
  leave({ ...network, ...change })

  expect(findLocalNetwork(project, undefined)).toBeUndefined()
  expect(findLocalNetwork('/', join(project, '.geoswap'))).toBeUndefined()
})

test('a file of another user is ignored unless it is named', () => {
  leave(network)
  const own = process.getuid?.() ?? 0
  vi.spyOn(process, 'getuid').mockReturnValue(own + 1)

  expect(findLocalNetwork(project, undefined)).toBeUndefined()
  expect(findLocalNetwork('/', join(project, '.geoswap'))).toEqual(network)
})

test.each([
  ['file that others can write', '.geoswap/local.json', 0o664],
  ['file in a folder that others can write', '.geoswap', 0o777],
])('a %s is ignored', (_name, path, mode) => {
  leave(network)
  chmodSync(join(project, path), mode)

  expect(findLocalNetwork(join(project, 'deep'), undefined)).toBeUndefined()
})

test('a symbolic link is ignored: its target may belong to another user', () => {
  leave(network)
  renameSync(join(project, '.geoswap', 'local.json'), join(project, 'moved.json'))
  symlinkSync(join(project, 'moved.json'), join(project, '.geoswap', 'local.json'))

  expect(findLocalNetwork(project, undefined)).toBeUndefined()
})

test('FILE_DAMAGED for a file with other content', () => {
  leave({ hello: 'world' })

  expect(() => findLocalNetwork(project, undefined)).toThrow(
    expect.objectContaining({ code: 'FILE_DAMAGED' }),
  )
})
