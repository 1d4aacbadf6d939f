import { expect, test } from 'vitest'
import type { NetworkConfig } from '../config.ts'
import type { ViewOfChain } from '../lanes/views.ts'
import type { ConnectedChain } from './chains.ts'
import { createGasWatch } from './gas-watch.ts'

const RICH = 10n ** 18n

/** A chain on which two keys lock and two deliver. */
function createChain(): ConnectedChain {
  const chain = {
    config: { chainId: 1, name: 'one', family: 'evm' },
    nativeToken: { decimals: 18 },
    senders: { relay: ['r1', 'r2'], deliver: ['d1', 'd2'] },
    retiring: [],
  }
  return chain as unknown as ConnectedChain
}

function watchOf(balances: Record<string, bigint>) {
  const rich = Object.fromEntries(['r1', 'r2', 'd1', 'd2'].map((key) => [key, RICH]))
  const parts = {
    costs: { value: { lock: 1_000n, delivery: 1_000n }, ageMs: 0 },
    state: { value: { balances: { ...rich, ...balances } }, ageMs: 0 },
  }
  const view = { part: (name: keyof typeof parts) => parts[name] } as unknown as ViewOfChain
  return createGasWatch({} as NetworkConfig, [createChain()], { of: () => view })
}

test('a chain takes new swaps while one of its keys has gas, on either side', () => {
  const watch = watchOf({ r1: 0n, d2: 0n })

  expect([watch.canLock(1), watch.canDeliver(1)]).toEqual([true, true])
  expect([watch.hasGas(1, 'd1'), watch.hasGas(1, 'd2')]).toEqual([true, false])
})

test('a chain takes no new swaps when all keys of a side are out of gas', () => {
  const watch = watchOf({ d1: 0n, d2: 0n })

  expect([watch.canLock(1), watch.canDeliver(1)]).toEqual([true, false])
})
