import { startNetwork } from '@geoswap/devnet'
import type { TestProject } from 'vitest/node'
import type { LocalNetwork } from '../world.ts'

declare module 'vitest' {
  interface ProvidedContext {
    local: LocalNetwork
    databaseUrl: string
    home: string
    /** The processes of each role at the start. */
    pids: Record<string, number[]>
  }
}

// Twice as fast as usual, because these tests mostly wait for blocks.
const PACE = { blockMs: 500, slotMs: 200 }

/** Starts the network that all browser tests share, with its page, and stops it after the last one. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { PATH = '', HOME = '' } = process.env
  const network = await startNetwork({ env: { PATH, HOME }, ...PACE, web: true })
  project.provide('local', { ...network.local, ...PACE } as LocalNetwork)
  project.provide('databaseUrl', network.databaseUrl)
  project.provide('home', network.home)
  project.provide('pids', network.pids)
  return () => network.stop()
}
