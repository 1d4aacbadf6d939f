import { startNetwork } from '@geoswap/devnet'
import { createPublicClient, http } from 'viem'
import type { TestProject } from 'vitest/node'
import type { LocalNetwork } from '../world.ts'

declare module 'vitest' {
  interface ProvidedContext {
    local: LocalNetwork
    databaseUrl: string
    home: string
    /** The newest final block of each EVM chain before any test moved its clock. */
    finalizedAtStart: Record<string, number>
  }
}

/** Starts the network of the mainnet shape that these tests share, and stops it after the last one. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { PATH = '', HOME = '' } = process.env
  const network = await startNetwork({ env: { PATH, HOME }, shape: 'mainnet' })
  const evm = network.local.chains.filter(({ family }) => family === 'evm')
  project.provide('local', network.local as LocalNetwork)
  project.provide('databaseUrl', network.databaseUrl)
  project.provide('home', network.home)
  project.provide('finalizedAtStart', Object.fromEntries(await Promise.all(evm.map(readFinalized))))
  return () => network.stop()
}

async function readFinalized({ name, rpcUrl }: { name: string; rpcUrl: string }): Promise<[string, number]> {
  const client = createPublicClient({ transport: http(rpcUrl) })
  const { number } = await client.getBlock({ blockTag: 'finalized' })
  return [name, Number(number)]
}
