import { attestationTypes, geoOpDomain, intakeDomain } from '@geoswap/protocol'
import type { Hex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { type AttestDeps, attestAll } from '../attester/attest.ts'
import { isWellFormed } from '../attester/verify.ts'
import type { Config } from '../config.ts'
import type { Logger } from '../observe/logger.ts'
import { createMetrics } from '../observe/metrics.ts'
import { type MetricsServer, showMetrics } from '../observe/metrics-server.ts'
import { createPool } from '../store/db.ts'
import { addAttesterMetrics } from './attester-metrics.ts'
import { assertKeysFor, type Chains, connectChains, verifyChains } from './chains.ts'
import { assertNothingLost } from './lost-log.ts'
import { verifySchema } from './schema.ts'
import { every } from './timing.ts'

const SWEEP_MS = 1_000

export type Attester = { start(): Promise<void>; close(): Promise<void> }

/** The attester: its own key, its own nodes, and nothing else. */
export async function composeAttester(config: Config, logger: Logger): Promise<Attester> {
  const { network, attesterKey } = config
  if (!attesterKey) throw new Error('GEOSWAP_ATTESTER_KEY is not set')
  const account = privateKeyToAccount(attesterKey.reveal() as Hex)
  assertKeysFor([network.attester], [account])
  const pool = createPool(config.databaseUrl.reveal(), { max: 4, applicationName: 'geoswap attester' })
  const chains = connectChains({
    ...{ network, accounts: [], signers: [], markerKey: config.markerKey },
    urlsOf: (chain) => chain.attesterRpcUrls,
  })
  await verifySchema(pool, logger)
  await verifyChains(chains, logger)
  await assertNothingLost(pool, chains)
  const deps: AttestDeps = {
    pool,
    chainOf: (chainId) => chains.of(chainId).chain,
    isWellFormed: (op) => isWellFormed(chains.placeOf, op),
    everywhere: chains.all,
    ...createSigning(account, chains),
    onAttested(kind, count) {
      logger.info({ kind, count }, 'attested')
      counters.countAttested(kind, count)
    },
    onRefused(swap, why) {
      logger.warn({ swapId: swap.id, why }, 'not attested')
      counters.countRefused()
    },
  }
  const metrics = createMetrics()
  const counters = addAttesterMetrics(metrics.registry)
  const attest = () =>
    attestAll(deps).then(counters.noteSweep, (err: unknown) => {
      logger.warn({ err }, 'attesting failed')
      metrics.countFault('attest')
    })
  let server: MetricsServer | undefined
  let sweep: { stop(): void } | undefined
  return {
    async start() {
      server = await showMetrics(metrics.registry, config)
      sweep = every(SWEEP_MS, attest)
    },
    async close() {
      sweep?.stop()
      await server?.close()
      await pool.end()
    },
  }
}

function createSigning(
  account: PrivateKeyAccount,
  chains: Chains,
): Pick<AttestDeps, 'signClaims' | 'signRefund'> {
  const domainOf = (chainId: number) => {
    const place = chains.placeOf(chainId)
    return 'escrow' in place ? geoOpDomain({ chainId, escrow: place.escrow }) : intakeDomain(chainId)
  }
  return {
    signClaims: (chainId, ops) =>
      account.signTypedData({
        ...{ domain: domainOf(chainId), types: attestationTypes, primaryType: 'Claims' },
        message: { ops: ops as Hex[] },
      }),
    signRefund: (chainId, op, validUntil) =>
      account.signTypedData({
        ...{ domain: domainOf(chainId), types: attestationTypes, primaryType: 'Refund' },
        message: { op: op as Hex, validUntil: BigInt(validUntil) },
      }),
  }
}
