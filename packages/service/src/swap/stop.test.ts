import { expect, test } from 'vitest'
import { describeScope, type StopScope, stopsSide, stopsSwap } from './stop.ts'

const usdc = { chainId: 1, token: '0xusdc', asset: 'USDC' }
const eth = { chainId: 2, token: '0x0', asset: 'ETH' }
const isStopped = (scope: StopScope, from = usdc, to = eth) => stopsSwap({ scope }, { from, to })

test('a stop of everything stops every swap', () => {
  expect(isStopped({ kind: 'part' })).toBe(true)
})

test('a stop of a chain stops swaps from it and to it', () => {
  expect([1, 2, 3].map((chainId) => isStopped({ kind: 'part', chainId }))).toEqual([true, true, false])
})

test('a stop of an asset on a chain does not affect the asset on other chains', () => {
  expect(isStopped({ kind: 'part', chainId: 1, asset: 'USDC' })).toBe(true)
  expect(isStopped({ kind: 'part', chainId: 2, asset: 'USDC' })).toBe(false)
  expect(isStopped({ kind: 'part', asset: 'USDC' })).toBe(true)
})

test('a stop of a route stops that direction only', () => {
  const route: StopScope = { kind: 'route', from: usdc, to: eth }

  expect(isStopped(route)).toBe(true)
  expect(isStopped(route, eth, usdc)).toBe(false)
  for (const change of [{ chainId: 3 }, { token: '0xdai' }]) {
    expect(isStopped(route, { ...usdc, ...change })).toBe(false)
    expect(isStopped(route, usdc, { ...eth, ...change })).toBe(false)
  }
  expect(stopsSide({ scope: route }, usdc)).toBe(false)
})

test.each<[StopScope, string]>([
  [{ kind: 'part' }, 'everything'],
  [{ kind: 'part', chainId: 1 }, 'everything on chain 1'],
  [{ kind: 'part', asset: 'USDC' }, 'USDC on every chain'],
  [{ kind: 'part', chainId: 1, asset: 'USDC' }, 'USDC on chain 1'],
  [{ kind: 'route', from: usdc, to: eth }, '1:0xusdc to 2:0x0'],
])('the scope %j is told as %s', (scope, text) => {
  expect(describeScope(scope)).toBe(text)
})
