import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { NETWORK_TEXT } from '../../test/support/network.ts'
import { UsageError } from '../command.ts'
import { deploy } from './deploy.ts'

const folder = mkdtempSync(join(tmpdir(), 'geoswap-deployer-'))
afterAll(() => rmSync(folder, { recursive: true }))

const unexpected = () => {
  throw new Error('unexpected chain request')
}

test.each([
  ['0x1000000000000000000000000000000000000001', 'a relayer'],
  ['0x2000000000000000000000000000000000000001', 'a deliverer'],
  ['0x3000000000000000000000000000000000000001', 'an attester'],
  ['0x4000000000000000000000000000000000000001', 'the treasury'],
])('the address %s (%s) cannot pay for contracts', async (address, what) => {
  const key = generatePrivateKey()
  const file = join(folder, 'geoswap.json')
  writeFileSync(file, NETWORK_TEXT.replace(address, privateKeyToAddress(key)))

  const deployed = deploy(
    ['--config', file],
    { GEOSWAP_DEPLOYER_KEY: key },
    { out: unexpected, hint: unexpected },
  )

  await expect(deployed).rejects.toThrow(UsageError)
  await expect(deployed).rejects.toThrow(`${privateKeyToAddress(key)} is already ${what}`)
})
