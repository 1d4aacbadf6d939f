import { Counter, Gauge, type Registry } from 'prom-client'

/** `place`: its number in the configuration, from 1. Its host is internal. */
type Server = { place: number; problem(): string | undefined }
type SignerCounters = { countFault(place: number, fault: string): void }

/** Figures of the remote signers that this process uses, as `/ready` names them. */
export function addSignerMetrics(registry: Registry, servers: readonly Server[]): SignerCounters {
  new Gauge({
    name: 'geoswap_signer_up',
    help: '1 while a remote signer answers this process and holds its keys.',
    labelNames: ['signer'],
    registers: [registry],
    collect() {
      for (const { place, problem } of servers)
        this.set({ signer: String(place) }, problem() === undefined ? 1 : 0)
    },
  })
  const faults = new Counter({
    name: 'geoswap_signer_faults_total',
    help: 'Answers of a remote signer to this process that gave no usable signature.',
    labelNames: ['signer', 'fault'],
    registers: [registry],
  })
  return { countFault: (place, fault) => faults.inc({ signer: String(place), fault }) }
}
