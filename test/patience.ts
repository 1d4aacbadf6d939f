import { createHash } from 'node:crypto'

// How much slower this machine is than the one on which the time-outs were chosen. A time-out only ends what never
// comes, so it may be longer on a slow or busy machine.

const ROUNDS = 20_000
// Of that machine, at rest.
const USUAL_MS = 70
const MOST = 12

// The processes of one test run share the first measurement.
const known = process.env['GEOSWAP_PATIENCE'] ?? measure().toFixed(1)
process.env['GEOSWAP_PATIENCE'] = known

export const patience = Number(known)

function measure(): number {
  const started = performance.now()
  let text = ''
  for (let round = 0; round < ROUNDS; round += 1) text = createHash('sha256').update(text).digest('hex')
  return Math.min(MOST, Math.max(1, (performance.now() - started) / USUAL_MS))
}
