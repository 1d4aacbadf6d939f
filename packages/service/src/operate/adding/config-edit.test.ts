import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { NETWORK_TEXT } from '../../../test/support/network.ts'
import { describeEdits, editConfig, openConfig, writeConfig } from './config-edit.ts'

const folder = mkdtempSync(join(tmpdir(), 'geoswap-edit-'))
const path = join(folder, 'geoswap.json')
const DAI = {
  symbol: 'DAI',
  address: '0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb',
  asset: 'USDC',
  decimals: 18,
}
const addDai = (token: object = DAI) =>
  editConfig(openConfig({}, path), [{ path: ['chains', 0, 'tokens', -1], value: token }])

beforeEach(() => writeFileSync(path, NETWORK_TEXT))
afterAll(() => rmSync(folder, { recursive: true }))

test('an insertion changes its own lines, in the indentation of the file', () => {
  const edited = addDai()

  const lines = describeEdits(edited).split('\n')
  expect(lines.filter((line) => line.startsWith('-'))).toHaveLength(2)
  expect(lines).toContain('+          "symbol": "DAI",')
  const kept = NETWORK_TEXT.split('\n').filter((line) => !edited.steps.at(-1)?.split('\n').includes(line))
  expect(kept).toHaveLength(1)
  expect(edited.network.chains[0]?.tokens.at(-1)).toMatchObject(DAI)
})

test('a file that would be invalid is refused with its line, and stays', () => {
  expect(() => addDai({ ...DAI, asset: 'DAI' })).toThrow(
    /geoswap\.json:\d+:\d+: .*DAI is not one of the assets/,
  )
  expect(readFileSync(path, 'utf8')).toBe(NETWORK_TEXT)
})

test('a file is replaced as a whole, and not if it changed meanwhile', () => {
  const edited = addDai()

  writeConfig(edited)

  expect(readFileSync(path, 'utf8')).toBe(edited.steps.at(-1))
  expect(readdirSync(folder)).toEqual(['geoswap.json'])
  expect(() => writeConfig(edited)).toThrow('changed meanwhile')
})

test('the new file has the mode of the old one, whatever the umask', () => {
  chmodSync(path, 0o664)
  const umask = process.umask(0o077)

  writeConfig(addDai())

  process.umask(umask)
  expect(statSync(path).mode & 0o777).toBe(0o664)
})

const isRoot = process.getuid?.() === 0

test.runIf(isRoot)('the new file keeps owner and group, so that its processes still read it', () => {
  chownSync(path, 1234, 2345)
  chmodSync(path, 0o440)

  writeConfig(addDai())

  expect(statSync(path)).toMatchObject({ uid: 1234, gid: 2345 })
  expect(statSync(path).mode & 0o777).toBe(0o440)
})

test.runIf(isRoot)('a file whose owner cannot be kept is refused, and stays', () => {
  chmodSync(folder, 0o777)
  chmodSync(path, 0o644)
  chownSync(path, 1234, 2345)
  const edited = addDai()

  process.seteuid?.(4321)
  try {
    expect(() => writeConfig(edited)).toThrow(
      'belongs to 1234:2345. Run this as both, or as root: it is unchanged.',
    )
  } finally {
    process.seteuid?.(0)
  }

  expect(readFileSync(path, 'utf8')).toBe(NETWORK_TEXT)
  expect(readdirSync(folder)).toEqual(['geoswap.json'])
})
