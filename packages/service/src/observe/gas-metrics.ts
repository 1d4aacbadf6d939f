import { Gauge, type Registry } from 'prom-client'
import { formatUnits } from 'viem'
import type { GasWatch } from '../lanes/gas-watch.ts'

/** Gas balances and how long they last. Those of a chain that is not read are absent. */
export function addGasMetrics(registry: Registry, gas: Pick<GasWatch, 'keys' | 'floats'>): void {
  new Gauge({
    name: 'geoswap_gas_low',
    help: '1 while a key that sends transactions holds less gas coin than its low mark.',
    labelNames: ['chain', 'address'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { chain, address, isLow } of gas.keys()) this.set({ chain, address }, isLow ? 1 : 0)
    },
  })
  new Gauge({
    name: 'geoswap_gas_float_balance',
    help: 'Balance of the gas float, in whole coins.',
    labelNames: ['chain', 'address'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { chain, address, balance, decimals } of gas.floats())
        this.set({ chain, address }, Number(formatUnits(balance, decimals)))
    },
  })
  new Gauge({
    name: 'geoswap_gas_float_topups_left',
    help: 'How many top-ups from low to target the gas float can still pay.',
    labelNames: ['chain'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { chain, topUpsLeft } of gas.floats()) this.set({ chain }, topUpsLeft)
    },
  })
}
