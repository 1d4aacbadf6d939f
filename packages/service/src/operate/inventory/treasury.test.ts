import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { NETWORK_TEXT } from '../../../test/support/network.ts'
import { parseNetwork } from '../../config/network-file.ts'
import type { NetworkConfig } from '../../config.ts'
import { writeKey } from '../keys.ts'
import { findTreasury } from './treasury.ts'

const keystore = mkdtempSync(join(tmpdir(), 'geoswap-keystore-'))
afterAll(() => rmSync(keystore, { recursive: true }))

const network = parseNetwork(NETWORK_TEXT).network as NetworkConfig
const [base] = network.chains as [NetworkConfig['chains'][number]]
const env = { GEOSWAP_KEYSTORE: keystore, GEOSWAP_KEYSTORE_PASSPHRASE: 'a long enough one' }

test.each(['deposit', 'withdraw'] as const)(
  'the preview of a %s needs no key of the treasury, whatever keystore is configured',
  async (kind) => {
    const asked = { network, chain: base, kind, isLocal: false }

    const shown = await findTreasury(env, asked, { needsKey: false })

    expect(shown).toEqual({ sender: network.treasury, signers: {} })
    await expect(findTreasury(env, asked, { needsKey: true })).rejects.toThrow('has no key of treasury')
  },
)

test('of several keys in the keystore, such as those of an old and a new vault, the owner signs', async () => {
  const made = Array.from({ length: 3 }, () =>
    writeKey('inventory', keystore, env.GEOSWAP_KEYSTORE_PASSPHRASE, { n: 2, r: 1, p: 1 }),
  )
  const [, solana] = network.chains
  if (solana?.family !== 'solana') expect.unreachable('The network has no Solana')

  for (const vault of made) {
    const asked = { network, chain: { ...solana, vault }, kind: 'withdraw', isLocal: false } as const
    expect(await findTreasury(env, asked, { needsKey: true })).toMatchObject({ sender: vault })
  }
})
