import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createCallMeter } from './call-meter.ts'
import { addNodeMetrics } from './process-metrics.ts'

const URLS = ['https://node.example/v2/SECRET', 'https://other.example/', 'https://node.example/v2/SECOND']

function createScene() {
  let time = 0
  const meter = createCallMeter(() => time)
  const registry = new Registry()
  addNodeMetrics(registry, meter, [{ name: 'base', callsPerMinute: 10 }, { name: 'arbitrum' }])
  const [first, second, third] = meter.watch('base', URLS)
  const pass = (ms: number) => {
    time += ms
  }
  if (!first || !second || !third) throw new Error('three nodes')
  return { ...{ first, second, third, registry }, pass }
}

test('calls are counted by chain, node and method, without the addresses of nodes', async () => {
  const { first, third, registry } = createScene()
  first.called('eth_call')
  first.called('eth_call')
  third.called('eth_getLogs')

  const text = await registry.metrics()

  expect(text).toContain('geoswap_node_calls_total{chain="base",node="1",method="eth_call"} 2')
  expect(text).toContain('geoswap_node_calls_total{chain="base",node="3",method="eth_getLogs"} 1')
  expect(text).not.toMatch(/SECRET|SECOND|example/)
})

test('a node that fails for ten seconds is down, the others are up, and one not asked is absent', async () => {
  const { first, second, registry, pass } = createScene()
  for (const node of [first, second]) node.called('eth_call')
  first.failed()
  second.answered()
  expect(await registry.metrics()).toContain('geoswap_node_up{chain="base",node="1"} 1')

  pass(10_000)
  const text = await registry.metrics()

  expect(text).toContain('geoswap_node_up{chain="base",node="1"} 0')
  expect(text).toContain('geoswap_node_up{chain="base",node="2"} 1')
  expect(text).not.toContain('geoswap_node_up{chain="base",node="3"}')

  first.answered()
  expect(await registry.metrics()).toContain('geoswap_node_up{chain="base",node="1"} 1')
})

test('the calls of the last minute are a part of the budget, on chains that have one', async () => {
  const { first, registry, pass } = createScene()
  for (let call = 0; call < 15; call += 1) first.called('eth_call')
  expect(await registry.metrics()).toContain('geoswap_node_budget_used_ratio{chain="base"} 1.5')

  pass(61_000)
  const text = await registry.metrics()

  expect(text).toContain('geoswap_node_budget_used_ratio{chain="base"} 0')
  expect(text).not.toContain('geoswap_node_budget_used_ratio{chain="arbitrum"}')
})
