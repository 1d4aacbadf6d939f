import { expect, test } from 'vitest'
import { addressOf } from '../test/evm-offer.ts'
import { createClient } from './index.ts'

const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const clientWith = (contracts: object) => () =>
  createClient({ baseUrl: 'http://service', apiKey: 'key', contracts: { 31337: contracts } })

test.each([
  [{ escrow: 'escrow' }, 'contracts[31337].escrow is no address: escrow'],
  [{ escrow: addressOf('1'), account: '' }, 'contracts[31337].account is no address: '],
  [{ escrow: mint, vault: mint, attester: `${mint}1` }, `contracts[31337].attester is no address: ${mint}1`],
  [{ escrow: addressOf('1'), vault: mint }, 'contracts[31337] has addresses of two families'],
])('a client with the contracts %j is refused', (contracts, message) => {
  expect(clientWith(contracts)).toThrow(message)
})

test.each([
  [{}],
  [{ escrow: addressOf('1'), account: addressOf('2').toLowerCase(), vault: addressOf('3') }],
  [{ escrow: mint, vault: mint, attester: mint, account: undefined }],
])('a client takes the contracts %j', (contracts) => {
  expect(clientWith(contracts)).not.toThrow()
})
