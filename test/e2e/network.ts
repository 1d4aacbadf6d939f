import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Network, type NetworkOptions, startNetwork } from '@geoswap/devnet'
import { zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { TestProject } from 'vitest/node'
import type { LocalNetwork } from '../world.ts'

declare module 'vitest' {
  interface ProvidedContext {
    local: LocalNetwork
    databaseUrl: string
    /** With the role of the API. */
    apiDatabaseUrl: string
    home: string
    /** The file with the addresses that are denied; it begins with one that nobody has. */
    screeningList: string
    /** The processes of each role at the start. */
    pids: Record<string, number[]>
    /** Tops up the keys of beta; it is empty until a test funds it. */
    float: string
  }
}

// So that a test need not wait a minute until a balance is read again.
const SHORT_MEMORY = { asset: 'GEO', maxAgeSeconds: 10 }

// Four times as fast as usual, because these tests mostly wait for blocks.
const PACE = { blockMs: 250, slotMs: 100 }

const BETA = 31_338

/** Starts the network that all end-to-end tests share, and stops it after the last one. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'geoswap-screening-'))
  const file = join(folder, 'list.txt')
  writeFileSync(file, `${zeroAddress}\n`)
  project.provide('screeningList', file)
  // Most deposits of native coin have a sender that cannot be found.
  const sources = [{ name: 'own', kind: 'list', file, onUnknown: 'allow' }]
  const refused = [{ region: 'XX', assets: ['GEO'] }]
  const regions = { header: 'x-test-region', refused, withoutRegion: 'allow' }
  const stop = await startShared(project, { serviceConfig: { screening: { sources, regions } } })
  return async () => {
    await stop()
    rmSync(folder, { recursive: true })
  }
}

/** The same, with or without its page, and with additional environment variables for its processes. */
export async function startShared(
  project: TestProject,
  { web, env: more, serviceConfig: added }: Pick<NetworkOptions, 'web' | 'env' | 'serviceConfig'>,
): Promise<() => Promise<void>> {
  const { PATH = '', HOME = '' } = process.env
  const floatKey = generatePrivateKey()
  const float = privateKeyToAddress(floatKey)
  const gasFloat = { evm: float, chains: [{ chainId: BETA, low: '10', target: '100', maxPerDay: '1000' }] }
  const serviceConfig = { discount: SHORT_MEMORY, gasFloat, ...added }
  const env = { PATH, HOME, GEOSWAP_FLOAT_KEY: floatKey, ...more }
  const network = await startNetwork({ env, ...PACE, serviceConfig, ...(web && { web }) })
  project.provide('local', { ...network.local, ...PACE } as LocalNetwork)
  project.provide('databaseUrl', network.databaseUrl)
  project.provide('apiDatabaseUrl', network.databaseUrls.api)
  project.provide('home', network.home)
  project.provide('pids', network.pids)
  project.provide('float', float)
  return async () => {
    const refused = findRefused(network)
    await network.stop()
    if (refused.length > 0) throw new Error(`The database refused what a role needs:\n${refused.join('\n')}`)
  }
}

/** Statements of the service that its role may not execute, also those whose failure nobody noticed. */
function findRefused({ home }: Network): string[] {
  const lines = readFileSync(join(home, 'logs', 'postgres.log'), 'utf8').split('\n')
  return [...new Set(lines.filter((line) => /permission denied|row-level security/.test(line)))]
}
