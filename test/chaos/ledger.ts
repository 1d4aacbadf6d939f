import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of a run with all its records, one JSON object per line. */
export type Ledger = {
  dir: string
  /** A client's request or answer. */
  history(entry: object): void
  /** Every signed transaction that passed a proxy, and whether it was on record at that time. */
  traffic(entry: object): void
  /** A fault of the service or of a chain. */
  fault(kind: string, detail?: object): void
  /** An act of strangers. */
  crowd(kind: string, detail?: object): void
  /** A transfer of strangers to the operator. */
  gift(entry: object): void
  /** The observed heads. */
  head(entry: object): void
}

export function openLedger(dir: string): Ledger {
  mkdirSync(dir, { recursive: true })
  const writer = (file: string) => (entry: object) =>
    appendFileSync(join(dir, file), `${JSON.stringify({ t: Date.now(), ...entry })}\n`)
  const faults = writer('faults.jsonl')
  const crowd = writer('crowd.jsonl')
  return {
    dir,
    history: writer('history.jsonl'),
    traffic: writer('traffic.jsonl'),
    fault: (kind, detail = {}) => faults({ kind, ...detail }),
    crowd: (kind, detail = {}) => crowd({ kind, ...detail }),
    gift: writer('gifts.jsonl'),
    head: writer('heads.jsonl'),
  }
}
