import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
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

test('an unknown setting is refused, with those that exist', () => {
  const advice = expect.stringContaining('attester.CHAIN_ID')
  expect(() => file.set('attestor.1', ADDRESS)).toThrow(expect.objectContaining({ code: 'USAGE', advice }))
})
