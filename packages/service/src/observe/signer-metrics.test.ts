import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { addSignerMetrics } from './role-metrics.ts'

test('a remote signer is named by its place in the configuration, never by its host', async () => {
  const registry = new Registry()
  const server = { name: 'signer.internal:9000', place: 2, problem: () => 'it is away' }

  addSignerMetrics(registry, [server]).countFault(2, 'away')

  const text = await registry.metrics()
  expect(text).toContain('geoswap_signer_up{signer="2"} 0')
  expect(text).toContain('geoswap_signer_faults_total{signer="2",fault="away"} 1')
  expect(text).not.toContain('signer.internal')
})
