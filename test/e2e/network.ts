import { startNetwork } from '@geoswap/devnet'
import type { TestProject } from 'vitest/node'
import type { LocalNetwork } from '../world.ts'

declare module 'vitest' {
  interface ProvidedContext {
    local: LocalNetwork
    databaseUrl: string
    home: string
  }
}

// So that a test need not wait a minute until a holding is read again.
const SHORT_MEMORY = { asset: 'GEO', maxAgeSeconds: 10 }

// Twice as fast as usual: most of the time of these tests is waiting for blocks.
const PACE = { blockMs: 500, slotMs: 200 }

/** Starts the network that all end-to-end tests share, and stops it after the last one. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { PATH = '', HOME = '' } = process.env
  const serviceConfig = { discount: SHORT_MEMORY }
  const network = await startNetwork({ env: { PATH, HOME }, ...PACE, serviceConfig })
  project.provide('local', { ...network.local, ...PACE } as LocalNetwork)
  project.provide('databaseUrl', network.databaseUrl)
  project.provide('home', network.home)
  return () => network.stop()
}
