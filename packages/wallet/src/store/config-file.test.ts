import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stub } from '@geoswap/protocol/test/stub'
import { afterAll, expect, test } from 'vitest'
import { type Context, connect } from '../context.ts'
import { toSettings } from '../settings.ts'
import { openConfigFile } from './config-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'geoswap-config-'))
const file = openConfigFile(folder)
const SOLANA = 792_703_809
const ADDRESS = 'So11111111111111111111111111111111111111112'

afterAll(() => rmSync(folder, { recursive: true }))

test.each(['account', 'escrow', 'vault', 'attester'])(
  '%s.CHAIN_ID names a contract that is signed for',
  (role) => {
    file.set(`${role}.${SOLANA}`, ADDRESS)

    const { contracts } = toSettings({}, file.read(), undefined)
    expect(contracts[SOLANA]).toMatchObject({ [role]: ADDRESS })
  },
)

test.each(['0x12', 'vault.example', `${ADDRESS}0`])('a contract has an address, and %s is none', (value) => {
  expect(() => file.set('vault.1', value)).toThrow('vault.1 must be an address')
})

const MIXED = `0x${'aB'.repeat(20)}`

test('an address with a wrong checksum is not kept', () => {
  expect(() => file.set('escrow.1', MIXED)).toThrow('escrow.1 must be an address')
})

test('an address in the file that is none names its setting and how to repair it', () => {
  const settings = toSettings({ url: 'http://localhost:1', apiKey: 'key' }, { 'escrow.1': MIXED }, undefined)
  const surroundings = stub<Context>({ settings, home: folder, seen: {} })

  expect(() => connect(surroundings)).toThrow(
    expect.objectContaining({
      message: `The setting escrow.1 is no address, or its checksum is wrong: ${MIXED}`,
      advice: 'geoswap config set escrow.1 ADDRESS, or geoswap config unset escrow.1.',
    }),
  )
})

test('an unknown setting is refused, with those that exist', () => {
  const advice = expect.stringContaining('attester.CHAIN_ID')
  expect(() => file.set('attestor.1', ADDRESS)).toThrow(expect.objectContaining({ code: 'USAGE', advice }))
})
