import { readFileSync } from 'node:fs'
import { delay, now } from './clock.ts'
import { type Figure, isTrue } from './figures.ts'
import { copyOpenSwap } from './open-swaps.ts'
import { createSwapper, type Swapper, swapOnce } from './route-swaps.ts'
import type { Shaped } from './shaped.ts'

const ROUTE = { name: 'base-arbitrum', from: 'base', to: 'arbitrum', usd: 50n }
const [FEW, MANY] = [50, 50_000]
const MOST = 1.3
const SWAPS = 20
// A worker's first pass over the stored swaps is not measured.
const QUIET_MS = 15_000
const TICKS_PER_SECOND = 100

/** The cost per second while swaps run one after the other. */
type Cost = { cpuMs: number; calls: number }

/** Compares the cost of a head with 50 swaps that are delivered but not final, and with 50,000. */
export async function measureOpen(shaped: Shaped): Promise<Figure[]> {
  const { controls, say, world } = shaped
  for (const { name } of world.chains) await controls.setBackendLag(name, 0)
  const swapper = await createSwapper(shaped, ROUTE, 2 * SWAPS + 2)
  const costWith = async (count: number) => {
    const { status } = await swapOnce(shaped, swapper)
    say(`storing ${count} open swaps`)
    await copyOpenSwap(shaped, status.swapId, count)
    await delay(QUIET_MS)
    return costOf(shaped, swapper)
  }
  const [few, many] = [await costWith(FEW), await costWith(MANY)]
  const compare = (name: string, what: keyof Cost): Figure =>
    isTrue(`${name} with ${MANY.toLocaleString('en')} open swaps`, {
      ok: many[what] <= few[what] * MOST,
      measured: `${many[what].toFixed(1)} (with ${FEW}: ${few[what].toFixed(1)})`,
      goal: `≤ ${MOST} × with ${FEW}`,
    })
  return [compare('Worker CPU, ms per second,', 'cpuMs'), compare('Calls per second', 'calls')]
}

async function costOf(shaped: Shaped, swapper: Swapper): Promise<Cost> {
  const { controls, network, say } = shaped
  const workers = network.pids.worker ?? []
  await controls.resetMeters()
  const [began, cpu] = [now(), cpuSecondsOf(workers)]
  for (let count = 0; count < SWAPS; count += 1) await swapOnce(shaped, swapper)
  const seconds = (now() - began) / 1_000
  const rows = await controls.readMeters()
  const calls = rows.filter(({ client }) => client.startsWith('geoswap-worker'))
  const cost = {
    cpuMs: ((cpuSecondsOf(workers) - cpu) * 1_000) / seconds,
    calls: calls.reduce((sum, row) => sum + row.calls, 0) / seconds,
  }
  say(`${cost.cpuMs.toFixed(1)} ms CPU and ${cost.calls.toFixed(1)} calls of the worker per second`)
  return cost
}

/** By proc_pid_stat(5): fields 14 and 15. */
function cpuSecondsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return sum + (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
  }, 0)
}
