import { setTimeout as delay } from 'node:timers/promises'
import { type Journey, prepareJourney } from './journeys.ts'
import type { Scene } from './scene.ts'

const PAUSE_MS = 500

export type Chain = 'alpha' | 'beta' | 'solana'
type Route = readonly [from: 'alpha' | 'solana', to: Chain]
export type Swapped = { journey: Journey; from: Chain; to: Chain }

const ROUTES: readonly Route[] = [
  ['alpha', 'beta'],
  ['alpha', 'solana'],
  ['solana', 'beta'],
]

/** One swap after the other on every route. A refused one is no swap, or its wallet keeps its input. */
export function startTraffic(scene: Scene) {
  const made: Swapped[] = []
  let isOver = false
  const swap = async ([from, to]: Route) => {
    const journey = await prepareJourney(scene, from, to)
    made.push({ journey, from, to })
    await journey.submit()
  }
  const run = async () => {
    for (let count = 0; !isOver; count += 1) {
      const route = ROUTES[count % ROUTES.length]
      if (route) await swap(route).catch((error: unknown) => scene.sees(`refused: ${error}`))
      await delay(PAUSE_MS)
    }
  }
  return {
    made,
    over: run(),
    end() {
      isOver = true
    },
  }
}
