import { expect, test } from 'vitest'
import type { NetworkConfig } from '../config.ts'
import type { ConnectedChain } from './chains.ts'
import { createGasWatch } from './gas-watch.ts'

const RICH = 10n ** 18n

/** A chain on which two keys lock and two deliver. */
function chainWith(balances: Record<string, bigint>): ConnectedChain {
  const costs = { lock: 1_000n, delivery: 1_000n }
  const chain = {
    config: { chainId: 1, name: 'one', family: 'evm' },
    nativeToken: { decimals: 18 },
    senders: { relay: ['r1', 'r2'], deliver: ['d1', 'd2'] },
    retiring: [],
    chain: { readHeads: async () => ({}), readLegCosts: async () => costs },
    readGasBalance: async (address: string) => balances[address] ?? RICH,
  }
  return chain as unknown as ConnectedChain
}

async function watchOf(balances: Record<string, bigint>) {
  const watch = createGasWatch({} as NetworkConfig, [chainWith(balances)])
  for (const refresh of watch.refreshers) await refresh()
  return watch
}

test('a chain takes new swaps while one of its keys has gas, on either side', async () => {
  const watch = await watchOf({ r1: 0n, d2: 0n })

  expect([watch.canLock(1), watch.canDeliver(1)]).toEqual([true, true])
  expect([watch.hasGas(1, 'd1'), watch.hasGas(1, 'd2')]).toEqual([true, false])
})

test('a chain takes no new swaps when all keys of a side are dry', async () => {
  const watch = await watchOf({ d1: 0n, d2: 0n })

  expect([watch.canLock(1), watch.canDeliver(1)]).toEqual([true, false])
})
