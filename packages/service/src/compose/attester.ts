import { geoEscrowAbi } from '@geoswap/protocol'
import { getAddress } from 'viem'
import { every } from '../async/timing.ts'
import { type AttestDeps, attestAll } from '../attester/attest.ts'
import { rememberHeads } from '../attester/remember-heads.ts'
import { createAttestationSigning, type SignerOf } from '../chains/evm/attestation-signing.ts'
import type { EvmSigner } from '../chains/evm/signer.ts'
import { isRefundable } from '../chains/is-signed.ts'
import { connectionsOf } from '../config/connections.ts'
import type { Config, NetworkConfig } from '../config.ts'
import type { Op } from '../model/swap.ts'
import type { UnsignedKeys } from '../model/unsigned-keys.ts'
import { addAttesterMetrics } from '../observe/attester-metrics.ts'
import { createCallMeter } from '../observe/call-meter.ts'
import type { Logger } from '../observe/logger.ts'
import { createMetrics } from '../observe/metrics.ts'
import { type MetricsServer, showMetrics } from '../observe/metrics-server.ts'
import { addProcessMetrics } from '../observe/process-metrics.ts'
import { findLostOn } from '../rebuild/lost-log.ts'
import type { WaitingAttestation } from '../store/attestations.ts'
import { createPool } from '../store/db.ts'
import { findSigned } from '../store/signed.ts'
import { attestersOf, solanaAttestersOf } from './attesters.ts'
import { assertKeysFor, type Chains, connectChains } from './chains.ts'
import { verifyDatabase } from './database.ts'
import { openChains } from './open-chains.ts'
import { openSigners } from './signers.ts'
import { createSigners as createSolanaSigners } from './solana.ts'

const SWEEP_MS = 1_000
// The alarm GeoswapAttesterSilent has the same limit.
const IDLE_SECONDS = 60

type Attester = { start(): Promise<void>; close(): Promise<void> }

/** The attester, with its own key and its own nodes only. */
export async function composeAttester(config: Config, logger: Logger): Promise<Attester> {
  const { network } = config
  const addresses = attestersOf(network)
  const metrics = createMetrics()
  const { registry } = metrics
  const signers = openSigners(config, { addresses, keys: config.attesterKeys, logger, registry })
  const solanaSigners = await createSolanaSigners(config.solanaAttesterKeys)
  assertKeysFor([...addresses, ...solanaAttestersOf(network)], [...signers.all, ...solanaSigners])
  const max = connectionsOf(network).attesterPool
  const pool = createPool(config.databaseUrl.reveal(), { max, applicationName: 'geoswap attester' })
  const calls = createCallMeter()
  const chains = connectChains({
    ...{ caller: 'attester', calls },
    ...{ network, accounts: [], signers: solanaSigners },
    findSigned: (step, hashes) => findSigned(pool, step, hashes),
    urlsOf: (chain) => chain.attesterRpcUrls,
  })
  await verifyDatabase(pool, { part: 'attester', network, logger })
  await signers.start()
  const opening = await openChains(chains, { logger, findLost: (chain) => findLostOn(pool, chain) })
  const byId = new Map(chains.all.map(({ chain }) => [chain.chainId, rememberHeads(chain)]))
  const deps: AttestDeps = {
    pool,
    chainOf: (chainId) => byId.get(chainId) ?? chains.of(chainId).chain,
    isVerified: (chainId) => chains.of(chainId).gate.isOpen,
    isSigned: (swap) =>
      isRefundable({ custodyOf: chains.custodyOf, originOf: (id) => chains.of(id).chain }, swap),
    everywhere: chains.all,
    ...createSigning(network, signers.all, chains),
    onAttested(kind, swapIds) {
      logger.info({ kind, swapIds }, 'attested')
      counters.countAttested(kind, swapIds.length)
    },
    onRefused(swap, why) {
      logger.error({ swapId: swap.id, why }, 'not attested')
      counters.countRefused()
    },
  }
  const isDatabaseUp = addProcessMetrics(metrics.registry, { pool, calls, chains: network.chains })
  const counters = addAttesterMetrics(metrics.registry)
  const ready = async () => {
    const [database, idleSeconds] = [await isDatabaseUp(), counters.idleSeconds()]
    return {
      ok: database && idleSeconds < IDLE_SECONDS,
      checks: { database, idleSeconds, chains: gatesOf(chains), signers: silentOf(signers.unsigned()) },
    }
  }
  const attest = () =>
    attestAll(deps).then(counters.noteSweep, (err: unknown) => {
      logger.warn({ err }, 'attesting failed')
      metrics.countFault('attest')
    })
  let server: MetricsServer | undefined
  let sweep: { stop(): void } | undefined
  return {
    async start() {
      server = await showMetrics(metrics.registry, config, ready)
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

/** Typed data for the escrows of EVM chains, transactions for the program of Solana. */
function createSigning(network: NetworkConfig, accounts: readonly EvmSigner[], chains: Chains) {
  const evm = createAttestationSigning(createSigners(network, accounts, chains), chains.custodyOf)
  const solanaOf = (chainId: number) => chains.of(chainId).solana
  return {
    async signClaims(chainId: number, ops: readonly Op[]) {
      const solana = solanaOf(chainId)
      const [op, ...others] = ops
      if (!solana) return evm.signClaims(chainId, ops)
      if (!op || others.length > 0) throw new Error('One claim per transaction')
      return solana.attest({ kind: 'claim', op })
    },
    async signRefund(chainId: number, op: Op, validUntil: number) {
      const solana = solanaOf(chainId)
      return solana ? solana.attest({ kind: 'refund', op }) : evm.signRefund(chainId, op, validUntil)
    },
    async isTaken(attestation: WaitingAttestation) {
      const solana = solanaOf(attestation.chainId)
      return solana ? solana.isAttested(attestation.signature) : evm.isTaken(attestation)
    },
  }
}

/** The signer of a chain: during a rotation of attesters, the one that its escrow currently names. */
function createSigners(network: NetworkConfig, accounts: readonly EvmSigner[], chains: Chains): SignerOf {
  const accountOf = (address: string) => {
    const account = accounts.find((each) => each.address === address)
    if (!account) throw new Error(`No key for the attester ${address} of an escrow`)
    return account
  }
  return async (chainId) => {
    const { evm } = chains.of(chainId)
    if (!evm || network.nextAttester === undefined) return accountOf(getAddress(network.attester))
    const escrow = { address: evm.contracts.escrow, abi: geoEscrowAbi } as const
    return accountOf(await evm.client.readContract({ ...escrow, functionName: 'attester' }))
  }
}
