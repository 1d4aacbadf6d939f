import { Counter, Gauge, type Registry } from 'prom-client'

type List = { name: string; current(): { reasons: { size: number }; changedAt: number } | undefined }

/** Labels are points, outcomes and names of sources: never an address. */
export function addScreeningMetrics(registry: Registry, lists: readonly List[]) {
  addListGauges(registry, lists)
  const decisions = new Counter({
    name: 'geoswap_screening_decisions_total',
    help: 'Decisions about the parties of swaps by this process, by point and outcome.',
    labelNames: ['point', 'outcome'],
    registers: [registry],
  })
  const answers = new Counter({
    name: 'geoswap_screening_answers_total',
    help: 'Answers of the sources that this process asks about addresses, also from memory.',
    labelNames: ['source', 'outcome'],
    registers: [registry],
  })
  const failures = new Counter({
    name: 'geoswap_screening_failures_total',
    help: 'Failures of a source: it was silent or odd, or its list could not be read again.',
    labelNames: ['source'],
    registers: [registry],
  })
  return {
    countDecision: (point: string, outcome: string) => decisions.inc({ point, outcome }),
    countAnswer: (source: string, outcome: string) => answers.inc({ source, outcome }),
    countFailure: (source: string) => failures.inc({ source }),
  }
}

function addListGauges(registry: Registry, lists: readonly List[]): void {
  new Gauge({
    name: 'geoswap_screening_listed',
    help: 'Addresses of a list file that this process uses.',
    labelNames: ['source'],
    registers: [registry],
    collect() {
      for (const { name, current } of lists) this.set({ source: name }, current()?.reasons.size ?? 0)
    },
  })
  new Gauge({
    name: 'geoswap_screening_list_age_seconds',
    help: 'Seconds since a list file that this process uses was changed.',
    labelNames: ['source'],
    registers: [registry],
    collect() {
      for (const { name, current } of lists) {
        const list = current()
        if (list) this.set({ source: name }, (Date.now() - list.changedAt) / 1_000)
      }
    },
  })
}
