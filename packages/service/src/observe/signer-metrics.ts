import { Counter, Gauge, type Registry } from 'prom-client'

type Server = { name: string; problem(): string | undefined }
type SignerCounters = { countFault(signer: string, fault: string): void }

/** Figures of the remote signers that this process uses. */
export function addSignerMetrics(registry: Registry, servers: readonly Server[]): SignerCounters {
  new Gauge({
    name: 'geoswap_signer_up',
    help: '1 while a remote signer answers this process and holds its keys.',
    labelNames: ['signer'],
    registers: [registry],
    collect() {
      for (const { name, problem } of servers) this.set({ signer: name }, problem() === undefined ? 1 : 0)
    },
  })
  const faults = new Counter({
    name: 'geoswap_signer_faults_total',
    help: 'Answers of a remote signer that gave no usable signature, by kind.',
    labelNames: ['signer', 'fault'],
    registers: [registry],
  })
  return { countFault: (signer, fault) => faults.inc({ signer, fault }) }
}
