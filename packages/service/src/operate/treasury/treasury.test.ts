import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { NETWORK_TEXT } from '../../../test/support/network.ts'
import { treasury } from './treasury.ts'

const folder = mkdtempSync(join(tmpdir(), 'geoswap-treasury-'))
const file = join(folder, 'geoswap.json')
writeFileSync(file, NETWORK_TEXT)
afterAll(() => rmSync(folder, { recursive: true }))

test('stock of Solana is refused with the address to send it to, rather than left out', async () => {
  const output = { out: () => {}, hint: () => {} }

  const asked = treasury(['plan', '--config', file, '--stock', 'solana:USDC=5000'], {}, output)

  await expect(asked).rejects.toThrow(
    'solana has no treasury: send solana:USDC to its vault 9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin yourself.',
  )
})
