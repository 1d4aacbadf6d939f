import { findSounding } from './alarms.ts'
import { ENDS, type End, type Journey, moneyOf, startJourney } from './journeys.ts'
import { Failed } from './report.ts'
import type { Scene } from './scene.ts'

// Conditions that must hold in the end.

type Row = { state: string; reason: string }

async function findRow({ query }: Scene, { opHash }: Journey): Promise<Row | undefined> {
  const rows = await query<Row>(
    `select s.state, coalesce(s.failure_code, s.refund_reason, '') as reason
       from swaps s join ops o on o.id = s.op_id where o.hash = $1`,
    [opHash],
  )
  return rows[0]
}

export async function reaches(scene: Scene, journey: Journey, state: string): Promise<void> {
  await scene.until(`the swap is ${state}`, async () => (await findRow(scene, journey))?.state === state)
}

type Ending = { what: string; journey: Journey; end: End; timeoutMs?: number }

/** The swap ended like this, and the balances match it exactly. */
export async function ends(scene: Scene, { what, journey, end, timeoutMs }: Ending): Promise<void> {
  const findOver = async () => {
    const row = await findRow(scene, journey)
    return row && /^(closed|refunded|failed)$/.test(row.state) ? row : undefined
  }
  const { state, reason } = await scene.until(`${what} is over`, findOver, timeoutMs)
  scene.expects(`${what} ended ${end}${reason && ` (${reason})`}`, state === ENDS[end], `it is ${state}`)
  const [is, due] = [await journey.read(), moneyOf(journey, end)]
  const isExact = is.paid === due.paid && is.left === due.left
  const sums = `recipient ${is.paid}, wallet ${is.left}`
  scene.expects(`its money is exact: ${sums}`, isExact, `${due.paid} and ${due.left} were due`)
}

/**
 * Ready, a swap that settles and is claimed, no alarm, and nothing in the books that was paid twice but what is known.
 */
export async function isHealthy(scene: Scene, known?: Journey): Promise<void> {
  const ready = await scene.until('/ready is 200', async () => {
    const reply = await fetch(`${scene.processes.urlOf('api')}/ready`)
    return reply.status === 200 && (await reply.text())
  })
  scene.sees(`GET /ready: ${ready}`)
  const journey = await startJourney(scene, 'alpha', 'beta')
  await ends(scene, { what: 'a new swap', journey, end: 'settled' })
  await isQuiet(scene)
  const twice = (await findPaidTwice(scene)).filter((opHash) => opHash !== known?.opHash)
  scene.expects('the books have nothing that was paid twice', twice.length === 0, twice.join(', '))
}

async function isQuiet(scene: Scene): Promise<void> {
  let before = await scene.processes.scrape()
  let sounding: string[] = []
  const look = async () => {
    const now = await scene.processes.scrape()
    sounding = findSounding(now, before)
    before = now
    return sounding.length === 0
  }
  const isSo = await scene.until('no alarm holds', look).catch((error: unknown) => {
    if (error instanceof Failed) return false
    throw error
  })
  scene.expects('no alarm of deploy/alerts.yaml holds', isSo, `${sounding.join(', ')} does`)
}

/** Operations with two payments in the books: two ways out of the escrow, or a delivery and a refund. */
async function findPaidTwice({ query }: Scene): Promise<string[]> {
  const rows = await query<{ op_hash: string }>(
    `select op_hash from ledger_movements where kind in ('claimed', 'refunded') and op_hash is not null
      group by op_hash having count(*) > 1
     union select op_hash from ledger_movements where kind in ('delivered', 'refunded') and op_hash is not null
      group by op_hash having count(distinct kind) > 1`,
  )
  return rows.map(({ op_hash }) => op_hash)
}
