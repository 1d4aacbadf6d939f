import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit'
import { expect, test } from 'vitest'
import { createKeys, toServiceSecrets } from '../src/index.ts'

test('the worker receives the seeds of the vault and both fee payers, in this order', async () => {
  const keys = createKeys()
  const { inventory, feePayers } = keys.solana
  const seeds = toServiceSecrets(keys).worker.GEOSWAP_SOLANA_KEYS.split(',')

  const signers = await Promise.all(
    seeds.map((seed) => createKeyPairSignerFromPrivateKeyBytes(Buffer.from(seed.slice(2), 'hex'))),
  )

  expect(seeds).toEqual(Array(3).fill(expect.stringMatching(/^0x[0-9a-f]{64}$/)))
  expect(signers.map(({ address }) => address)).toEqual(
    [inventory, feePayers.input, feePayers.delivery].map(({ address }) => address),
  )
})

test('no role has a key of another', () => {
  const keys = createKeys()
  const { api, worker, attester } = toServiceSecrets(keys)

  expect([api, worker, attester].map(Object.keys)).toEqual([
    ['GEOSWAP_SEAL_KEYS'],
    ['GEOSWAP_RELAYER_KEYS', 'GEOSWAP_DELIVERER_KEYS', 'GEOSWAP_SOLANA_KEYS'],
    ['GEOSWAP_ATTESTER_KEY', 'GEOSWAP_SOLANA_ATTESTER_KEY'],
  ])
})
