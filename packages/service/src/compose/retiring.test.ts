import { expect, test } from 'vitest'
import { NETWORK_TEXT } from '../../test/support/network.ts'
import { parseNetwork } from '../config/network-file.ts'
import { activeSenders } from '../swap/served-chain.ts'
import { connectChains } from './chains.ts'

test('a retiring key keeps its lane and gets no new work', () => {
  const { network } = parseNetwork(NETWORK_TEXT)
  const [retired, kept] = network.relayers
  const { all } = connectChains({
    network: { ...network, retiring: [retired?.toLowerCase() ?? ''] },
    urlsOf: (chain) => chain.rpcUrls,
  })
  const [base] = all
  if (!base) throw new Error('No chain')

  expect(base.senders.relay).toEqual([retired, kept])
  expect(activeSenders(base, 'relay')).toEqual([kept])
  expect(activeSenders(base, 'deliver')).toEqual(network.deliverers)
})
