import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Keys, type Network, startNetwork } from '@geoswap/devnet'
import type { Hex } from 'viem'
import { findFreePort } from '../../packages/devnet/src/ports.ts'
import { buildService } from '../../packages/service/scripts/build.ts'
import { familyOfRole } from '../../packages/service/src/chains/families.ts'
import { encryptSecret, saltIn } from '../../packages/service/src/config/keystore.ts'
import { delay, now } from './clock.ts'
import type { Figure } from './figures.ts'
import { migrate, spawnRole, stopChild } from './service.ts'

const MOST_SECONDS = 10
const PATIENCE_MS = 120_000
const ROUNDS = 3
const PASSPHRASE = 'of a bench'
// As `service setup` takes it.
const COST = { n: 2 ** 17, r: 8, p: 1 }

type Setup = { network: Network; file: string; secrets: Record<string, string>; chains: unknown[] }
type Worker = { child: ChildProcess; seconds: number; lanes: number }

/**
 * The time of the only worker from its start until it follows every chain and holds every lane, also right after a
 * crash. Its keys are in a keystore as `service setup` makes it, its chains behave like public ones.
 */
export async function measureReady({ say }: { say(line: string): void }): Promise<Figure[]> {
  const { PATH = '', HOME = '' } = process.env
  const network = await startNetwork({ env: { PATH, HOME }, shape: 'mainnet', service: false, say })
  const folder = mkdtempSync(join(tmpdir(), 'geoswap-bench-'))
  try {
    const count = writeKeystore(folder, network.keys)
    const file = await buildService()
    await migrate(network, file)
    const { chains } = JSON.parse(readFileSync(join(network.home, 'service.json'), 'utf8'))
    const secrets = { GEOSWAP_KEYSTORE: folder, GEOSWAP_KEYSTORE_PASSPHRASE: PASSPHRASE }
    const start = (least: number) => startWorker({ network, file, secrets, chains }, least)
    // It takes all lanes at once, and tells how many there are.
    const { child, lanes } = await start(1)
    await stopChild(child)
    const [fresh, crashed]: [number[], number[]] = [[], []]
    for (let round = 0; round < ROUNDS; round += 1) {
      const worker = await start(lanes)
      worker.child.kill('SIGKILL')
      const next = await start(lanes)
      await stopChild(next.child)
      say(`ready after ${worker.seconds.toFixed(1)} s, after a crash ${next.seconds.toFixed(1)} s`)
      fresh.push(worker.seconds)
      crashed.push(next.seconds)
    }
    const title = `Worker with ${count} keys ready`
    return [toFigure(title, fresh), toFigure(`${title} after kill -9`, crashed)]
  } finally {
    rmSync(folder, { recursive: true })
    await network.stop()
  }
}

function toFigure(name: string, seconds: readonly number[]): Figure {
  const most = Math.max(...seconds)
  const measured = `${most.toFixed(1)} s, the slowest of ${seconds.length}`
  return { name, measured, baseline: '', goal: `< ${MOST_SECONDS} s`, ok: most < MOST_SECONDS }
}

/** One file per key, all with one salt. Returns how many. */
function writeKeystore(
  folder: string,
  { relayers, authorizationRelayers, deliverers, solana }: Keys,
): number {
  const secretsOf = (keys: readonly { privateKey: Hex }[]) => keys.map(({ privateKey }) => privateKey)
  const secrets: Record<string, readonly Hex[]> = {
    relayer: secretsOf(relayers),
    'authorization-relayer': secretsOf(authorizationRelayers),
    deliverer: secretsOf(deliverers),
    inventory: [solana.inventory.seed],
    'fee-input': [solana.feePayers.input.seed],
    'fee-delivery': [solana.feePayers.delivery.seed],
  }
  const all = Object.entries(secrets).flatMap(([role, some]) => some.map((secret) => ({ role, secret })))
  for (const [index, { role, secret }] of all.entries()) {
    const keys = familyOfRole(role)?.keys
    if (!keys) throw new Error(`There is no role ${role}`)
    const address = keys.inFile.write(keys.addressOf(secret))
    const encrypted = encryptSecret(secret, PASSPHRASE, { ...COST, salt: saltIn(folder) })
    writeFileSync(join(folder, `${index}.json`), JSON.stringify({ address, role, ...encrypted }))
  }
  return all.length
}

/** Starts a worker, and waits until it follows every chain and holds this many lanes. */
async function startWorker({ network, file, secrets, chains }: Setup, least: number): Promise<Worker> {
  const port = await findFreePort()
  const began = now()
  const own = { ...secrets, METRICS_PORT: String(port) }
  const child = spawnRole({ network, port, role: 'worker', file, fields: { chains }, secrets: own })
  for (;;) {
    const { chains: live = [], lanes = 0 } = await readChecks(port)
    const took = now() - began
    if (live.length === chains.length && lanes >= least) return { child, seconds: took / 1_000, lanes }
    if (took > PATIENCE_MS || child.exitCode !== null) {
      await stopChild(child)
      throw new Error('The worker is not ready')
    }
    await delay(50)
  }
}

type Checks = { chains?: string[]; lanes?: number }

/** Nothing before the worker listens. */
async function readChecks(port: number): Promise<Checks> {
  const reply = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => undefined)
  const { checks = {} } = ((await reply?.json()) ?? {}) as { checks?: Checks }
  return reply?.status === 200 ? checks : {}
}
