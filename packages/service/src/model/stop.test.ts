import { expect, test } from 'vitest'
import { type StopScope, stopsSwap } from './stop.ts'

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
})
