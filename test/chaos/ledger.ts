import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of a run: everything that was said, done and seen, one JSON object per line. */
export type Ledger = {
  dir: string
  /** What a client asked and was told. */
  history(entry: object): void
  /** Every signed transaction that came by a proxy, and whether it was on record at that moment. */
  traffic(entry: object): void
  /** What was done to the service and to the chains. */
  fault(kind: string, detail?: object): void
  /** Heads as they were seen. */
  head(entry: object): void
}

export function openLedger(dir: string): Ledger {
  mkdirSync(dir, { recursive: true })
  const writer = (file: string) => (entry: object) =>
    appendFileSync(join(dir, file), `${JSON.stringify({ t: Date.now(), ...entry })}\n`)
  const faults = writer('faults.jsonl')
  return {
    dir,
    history: writer('history.jsonl'),
    traffic: writer('traffic.jsonl'),
    fault: (kind, detail = {}) => faults({ kind, ...detail }),
    head: writer('heads.jsonl'),
  }
}
