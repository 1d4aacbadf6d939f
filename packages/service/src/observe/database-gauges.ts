import type { Pool } from 'pg'
import { Gauge, type Registry } from 'prom-client'

type Spec = { name: string; help: string; labelNames?: readonly string[] }
type Gauges<K extends string> = Record<K, Gauge<string>>

/**
 * Adds gauges that one reading of the database shows. While it does not answer they are absent: a value from before
 * would look like a present one.
 */
export function addReading<K extends string, T>(
  registry: Registry,
  specs: Record<K, Spec>,
  { read, show }: { read(): Promise<T>; show(gauges: Gauges<K>, value: T): void },
): void {
  const gauges = {} as Gauges<K>
  const clear = () => {
    for (const key in specs) {
      gauges[key].reset()
      // A gauge without labels would be 0.
      if (!specs[key].labelNames) gauges[key].remove()
    }
  }
  let running: Promise<void> | undefined
  // All gauges of a scrape wait for the same reading.
  const refresh = () => {
    running ??= read()
      .then(
        (value) => {
          clear()
          show(gauges, value)
        },
        () => clear(),
      )
      .finally(() => {
        running = undefined
      })
    return running
  }
  for (const key in specs) {
    const { labelNames = [], ...spec } = specs[key]
    gauges[key] = new Gauge({ ...spec, labelNames: [...labelNames], registers: [registry], collect: refresh })
  }
}

const PROBE_MS = 2_000

/** Asks the database whether it answers. */
export function createDatabaseProbe(pool: Pick<Pool, 'query'>): () => Promise<boolean> {
  return () => {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, PROBE_MS, false)
    })
    const asked = pool.query('select 1').then(
      () => true,
      () => false,
    )
    return Promise.race([asked, late]).finally(() => clearTimeout(timer))
  }
}

/** Whether this process reaches the database. */
export function addDatabaseGauge(registry: Registry, isUp: () => Promise<boolean>): void {
  new Gauge({
    name: 'geoswap_database_up',
    help: '1 while the database answers this process. While it does not, figures from the database are absent.',
    registers: [registry],
    async collect() {
      this.set((await isUp()) ? 1 : 0)
    },
  })
}
