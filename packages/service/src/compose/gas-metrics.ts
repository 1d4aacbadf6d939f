import { Gauge, type Registry } from 'prom-client'
import type { GasWatch } from './gas-watch.ts'

/** Gas before it runs out, as this process saw it last. */
export function addGasMetrics(registry: Registry, gas: Pick<GasWatch, 'keys' | 'floats'>): void {
  new Gauge({
    name: 'geoswap_gas_low',
    help: '1 while a key that sends transactions holds less gas coin than its low mark.',
    labelNames: ['chain', 'address'],
    registers: [registry],
    collect() {
      for (const { chain, address, isLow } of gas.keys()) this.set({ chain, address }, isLow ? 1 : 0)
    },
  })
  new Gauge({
    name: 'geoswap_gas_float_balance',
    help: 'What the gas float holds, in whole coins.',
    labelNames: ['chain', 'address'],
    registers: [registry],
    collect() {
      for (const { chain, address, coins } of gas.floats()) this.set({ chain, address }, coins)
    },
  })
  new Gauge({
    name: 'geoswap_gas_float_topups_left',
    help: 'How many keys the gas float can still fill up from low to target.',
    labelNames: ['chain'],
    registers: [registry],
    collect() {
      for (const { chain, topUpsLeft } of gas.floats()) this.set({ chain }, topUpsLeft)
    },
  })
}
