import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
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
  mkdirSync(join(project, '.geoswap'))
  mkdirSync(join(project, 'deep', 'inside'), { recursive: true })
})
afterEach(() => rmSync(project, { recursive: true }))

function leave(value: object): void {
  writeFileSync(join(project, '.geoswap', 'local.json'), JSON.stringify(value))
}

test('a running network is found from any folder of its project', () => {
  leave(network)

  expect(findLocalNetwork(join(project, 'deep', 'inside'), undefined)).toEqual(network)
})

test('where a folder is named, only that one counts', () => {
  leave(network)

  expect(findLocalNetwork(project, join(project, 'deep'))).toBeUndefined()
  expect(findLocalNetwork('/', join(project, '.geoswap'))).toEqual(network)
})

test.each(['apiUrl', 'faucetUrl'])('a %s on another machine is not believed', (field) => {
  leave({ ...network, [field]: 'https://127.0.0.1.example' })

  expect(findLocalNetwork(project, undefined)).toBeUndefined()
})

test('FILE_DAMAGED for a file that says something else', () => {
  leave({ hello: 'world' })

  expect(() => findLocalNetwork(project, undefined)).toThrow(
    expect.objectContaining({ code: 'FILE_DAMAGED' }),
  )
})
