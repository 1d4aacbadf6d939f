import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServiceConfig } from '@geoswap/devnet'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { Journey } from '../journeys.ts'
import { operatorEnv } from '../npm-run.ts'
import { ROLES, type Role } from '../processes.ts'
import type { Scene } from '../scene.ts'
import { type Chain, type Route, startTraffic, type Traffic } from '../traffic.ts'
import { openTerminal } from './terminal.ts'

const GAS = 100n * 10n ** 18n
export const PATIENT_MS = 300_000

/** A scene in which swaps run all the time, with the operator's terminal. */
export type Month = Scene & {
  folder: string
  traffic: Traffic
  /** The traffic's, which grow with the service. */
  routes: Route[]
  /** Every command line, as typed. */
  typed: string[]
  /** Counts USDC that went into a vault, or out of it, besides the swaps of the traffic. */
  moved(chain: Chain, amount: bigint): void
  readonly movements: ReadonlyMap<Chain, bigint>
  /** Types a command that must succeed, and returns what it printed. */
  type(command: string, env?: Record<string, string>): Promise<string>
  /** The secrets of commands, which later steps change. */
  secrets: Record<string, string>
  readConfig(): ServiceConfig
  /** The swap that was paid, and whose input went back. */
  lost?: Journey
  /** Chains that a step started, whose clocks go ahead like the others. */
  added: { advance(seconds: number): Promise<unknown>; stop(): Promise<void> }[]
  stop(): Promise<void>
}

export async function beginMonth(scene: Scene): Promise<Month> {
  const folder = mkdtempSync(join(tmpdir(), 'geoswap-month-'))
  const deployer = generatePrivateKey()
  for (const chain of scene.world.chains)
    await scene.world.fund(chain, privateKeyToAddress(deployer), 'ETH', GAS)
  const secrets: Record<string, string> = {
    GEOSWAP_TREASURY_KEY: scene.network.keys.treasury.privateKey,
    GEOSWAP_DEPLOYER_KEY: deployer,
    GEOSWAP_KEYSTORE_PASSPHRASE: 'a passphrase of this drill',
  }
  const terminal = openTerminal(scene, { ...operatorEnv(scene.network), USER: 'operator' })
  // The stage starts these without npm.
  const typed = ROLES.map((role) => `npm run service -- ${role}`)
  const routes: Route[] = [['alpha', 'beta']]
  const traffic = startTraffic(scene, routes)
  const movements = new Map<Chain, bigint>()
  const added: Month['added'] = []
  const { GEOSWAP_SEAL_KEYS = '' } = scene.processes.secrets.api
  return {
    ...scene,
    ...{ folder, traffic, routes, typed, secrets, added, movements },
    moved: (chain, amount) => void movements.set(chain, (movements.get(chain) ?? 0n) + amount),
    type(command, env) {
      typed.push(command)
      return terminal.type(command, { GEOSWAP_SEAL_KEYS, ...secrets, ...env })
    },
    readConfig: () => JSON.parse(readFileSync(join(scene.network.home, 'service.json'), 'utf8')),
    async stop() {
      traffic.end()
      await traffic.over
      await terminal.stop()
      await Promise.all(added.map((chain) => chain.stop()))
      rmSync(folder, { recursive: true })
    },
  }
}

export const service = (month: Month, command: string, env?: Record<string, string>) =>
  month.type(`npm run -s service -- ${command}`, env)

/** As the owner of the tables. */
export const asOwner = (month: Month, command: string) =>
  service(month, command, { DATABASE_URL: month.network.databaseUrl })

/** In the order that `add-token` prints, unless some are named. */
export async function restart(month: Month, ...roles: Role[]): Promise<void> {
  const all: Role[] = roles.length > 0 ? roles : ['attester', 'worker', 'api']
  for (const role of all) await month.processes.restart(role)
  month.does(`started again: ${all.join(', then ')}`)
  await isReady(month)
}

export async function isReady({ processes, until }: Month): Promise<void> {
  await until('/ready is 200', async () => {
    const reply = await fetch(`${processes.urlOf('api')}/ready`).catch(() => undefined)
    await reply?.body?.cancel()
    return reply?.status === 200
  })
}

/** Waits until no swap is open, while no other begins. */
export async function quiet(month: Month): Promise<void> {
  await month.traffic.pause()
  const isOver = async () => {
    const open = await month.query(
      `select 1 from swaps where state not in ('closed', 'refunded', 'failed') limit 1`,
    )
    return open.length === 0
  }
  await month.until('no swap is open', isOver, PATIENT_MS)
}

/** On the EVM chains. */
export async function advance(
  { world, added, happens }: Month,
  seconds: number,
  what: string,
): Promise<void> {
  for (const chain of [...world.chains, ...added]) await chain.advance(seconds)
  happens(`${what} on the chains`)
}
