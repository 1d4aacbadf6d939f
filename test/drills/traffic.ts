import { setTimeout as delay } from 'node:timers/promises'
import { type Journey, prepareJourney } from './journeys.ts'
import type { Scene } from './scene.ts'

const PAUSE_MS = 500

export type Chain = 'alpha' | 'beta' | 'solana'
export type Route = readonly [from: 'alpha' | 'solana', to: Chain]
export type Swapped = { journey: Journey; from: Chain; to: Chain }
export type Traffic = ReturnType<typeof startTraffic>

const ROUTES: readonly Route[] = [
  ['alpha', 'beta'],
  ['alpha', 'solana'],
  ['solana', 'beta'],
]

/**
 * One swap after the other on every route, also on those that are added to the list later. A refused one is no swap,
 * or its wallet keeps its input.
 */
export function startTraffic(scene: Scene, routes = ROUTES) {
  const made: Swapped[] = []
  let mode: 'runs' | 'pauses' | 'ends' = 'runs'
  let isBusy = false
  const swap = async ([from, to]: Route) => {
    const journey = await prepareJourney(scene, from, to)
    made.push({ journey, from, to })
    await journey.submit()
  }
  let told = ''
  const tell = (error: unknown) => {
    const text = String(error)
    if (text !== '' && text !== told) scene.sees(`refused: ${text}`)
    told = text
  }
  const run = async () => {
    for (let count = 0; mode !== 'ends'; count += 1) {
      const route = routes[count % routes.length]
      if (mode === 'runs' && route) {
        isBusy = true
        await swap(route).then(() => tell(''), tell)
        isBusy = false
      }
      await delay(PAUSE_MS)
    }
  }
  return {
    made,
    over: run(),
    /** Settles when no swap is being submitted. */
    async pause(): Promise<void> {
      mode = 'pauses'
      while (isBusy) await delay(PAUSE_MS)
    },
    resume() {
      mode = 'runs'
    },
    end() {
      mode = 'ends'
    },
  }
}
