import { every } from '../async/timing.ts'
import { findLostOn } from '../books/rebuild/lost-log.ts'
import { isRefundable } from '../chains/attested.ts'
import type { Config } from '../config.ts'
import { createCallMeter } from '../observe/call-meter.ts'
import type { Logger } from '../observe/logger.ts'
import { createMetrics, type MetricsServer, serveMetrics } from '../observe/metrics.ts'
import { addProcessMetrics } from '../observe/process-metrics.ts'
import { addAttesterMetrics } from '../observe/role-metrics.ts'
import { type AttestDeps, attestAll, rememberHeads } from '../stages/attest/attest.ts'
import { findSigned } from '../store/signed.ts'
import type { UnsignedKeys } from '../swap/served-chain.ts'
import { attestersOf, type Chains, connectChains } from './chains.ts'
import { openChains } from './open-chains.ts'
import { assertOneTreasury, faultKindOf, openDatabase, openQuarantine, verifyDatabase } from './process.ts'
import { openSigners } from './signers.ts'

const SWEEP_MS = 1_000
// The alarm GeoswapAttesterSilent has the same limit.
const IDLE_SECONDS = 60

type Attester = { start(): Promise<void>; close(): Promise<void> }

/** One attester, with its own key and its own nodes only. */
export async function composeAttester(config: Config, logger: Logger): Promise<Attester> {
  const { network } = config
  const addresses = attestersOf(network)
  const metrics = createMetrics()
  const { registry } = metrics
  const signers = await openSigners(config, { addresses, logger, registry })
  assertMembers(addresses, signers.all)
  const { pool } = openDatabase(config, 'attester', logger)
  const calls = createCallMeter()
  const chains = connectChains({
    caller: 'attester',
    calls,
    network,
    signers: signers.byFamily,
    findSigned: (step, hashes) => findSigned(pool, step, hashes),
    urlsOf: (chain) => chain.attesterRpcUrls,
  })
  await verifyDatabase(pool, { part: 'attester', config, logger })
  openQuarantine(pool, logger)
  await signers.start()
  const opening = await openChains(chains, { logger, findLost: (chain) => findLostOn(pool, chain) })
  await assertOneTreasury(config, chains)
  const byId = new Map(
    chains.all.map((each) => [each.chain.chainId, { ...each, chain: rememberHeads(each.chain) }]),
  )
  const deps: AttestDeps = {
    pool,
    chains: { of: (chainId) => byId.get(chainId) ?? chains.of(chainId), all: chains.all },
    isRefundable: (swap) =>
      isRefundable({ custodyOf: chains.custodyOf, originOf: (id) => chains.of(id).chain }, swap),
    signers: signers.all.map(({ address }) => address),
    events: {
      onAttested(kind, swapIds) {
        logger.info({ kind, swapIds }, 'attested')
        counters.countAttested(kind, swapIds.length)
      },
      onRefused(swap, why) {
        logger.error({ swapId: swap.id, why }, 'not attested')
        counters.countRefused()
      },
      onPostponed: (swap, why) => logger.info({ swapId: swap.id, why }, 'not attested yet'),
    },
  }
  const { isUp, hasRoom } = addProcessMetrics(metrics.registry, { pool, calls, chains: network.chains })
  const counters = addAttesterMetrics(metrics.registry)
  const ready = async () => {
    const [database, databaseRoom] = await Promise.all([isUp(), hasRoom()])
    const idleSeconds = counters.idleSeconds()
    return {
      ok: database && databaseRoom && idleSeconds < IDLE_SECONDS,
      checks: {
        ...{ database, databaseRoom, idleSeconds },
        chains: gatesOf(chains),
        signers: silentOf(signers.unsigned()),
      },
    }
  }
  const attest = () =>
    attestAll(deps).then(counters.noteSweep, (err: unknown) => {
      const kind = faultKindOf(err, 'attest')
      metrics.countFault(kind)
      if (kind === 'behind') logger.info('no backend has the newest block yet')
      else logger.warn({ err }, 'attesting failed')
    })
  let server: MetricsServer | undefined
  let sweep: { stop(): void } | undefined
  return {
    async start() {
      server = await serveMetrics(metrics.registry, config, ready)
      sweep = every(SWEEP_MS, attest)
    },
    async close() {
      opening.stop()
      signers.stop()
      sweep?.stop()
      await server?.close()
      await pool.end()
    },
  }
}

function gatesOf({ all }: Chains): Record<string, boolean> {
  return Object.fromEntries(all.map(({ config, gate }) => [config.name, gate.isOpen]))
}

function silentOf(unsigned: UnsignedKeys): string[] {
  return [...new Set(Object.values(unsigned))].map(
    (place) => `remote signer ${place} does not sign for the attester`,
  )
}

/** Asserts that the process has a key, and no key that no set of attesters has. */
function assertMembers(addresses: readonly string[], signers: readonly { address: string }[]): void {
  const strangers = signers.filter(({ address }) => !addresses.includes(address))
  if (strangers.length > 0)
    throw new Error(
      `Not an attester of the configuration: ${strangers.map(({ address }) => address).join(', ')}`,
    )
  if (signers.length === 0) throw new Error(`No private key for any of ${addresses.join(', ')}`)
}
