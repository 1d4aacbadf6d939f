import { createPublicClient, custom, zeroAddress, zeroHash } from 'viem'
import { expect, test } from 'vitest'
import type { EvmClients } from './client.ts'
import { readWallet } from './reads.ts'
import type { EvmChainSettings } from './settings.ts'

const settings = { account: zeroAddress, olderAccounts: [] } as unknown as EvmChainSettings
const input = { wallet: zeroAddress, token: '0x00000000000000000000000000000000000000a7' }

test('a balance and its block are of one request, also while another wallet is read', async () => {
  const numbers = ['0x7', '0x9']
  const request = async ({ method }: { method: string }) =>
    method === 'eth_blockNumber' ? numbers.shift() : zeroHash
  const client = createPublicClient({ transport: custom({ request }) })
  const clients = { client, gathered: { client, agreed: client } } as unknown as EvmClients

  const [first, second] = await Promise.all([
    readWallet(clients, settings, input),
    readWallet(clients, settings, input),
  ])

  expect([first.block, second.block]).toEqual([7n, 9n])
})
