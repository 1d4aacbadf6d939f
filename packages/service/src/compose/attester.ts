import { attestationTypes, geoEscrowAbi, geoOpDomain, intakeDomain } from '@geoswap/protocol'
import { getAddress, type Hex, verifyTypedData } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { type AttestDeps, attestAll } from '../attester/attest.ts'
import type { Heads } from '../chains/chain.ts'
import { isRefundable } from '../chains/is-signed.ts'
import type { Config, NetworkConfig } from '../config.ts'
import type { Logger } from '../observe/logger.ts'
import { createMetrics } from '../observe/metrics.ts'
import { type MetricsServer, showMetrics } from '../observe/metrics-server.ts'
import { createPool } from '../store/db.ts'
import { findSigned } from '../store/signed.ts'
import { addAttesterMetrics } from './attester-metrics.ts'
import { attestersOf } from './attesters.ts'
import { assertKeysFor, type Chains, connectChains } from './chains.ts'
import { verifyDatabase } from './database.ts'
import { findLostOn } from './lost-log.ts'
import { openChains } from './open-chains.ts'
import { every } from './timing.ts'

const SWEEP_MS = 1_000

type Attester = { start(): Promise<void>; close(): Promise<void> }

/** The attester, with its own key and its own nodes only. */
export async function composeAttester(config: Config, logger: Logger): Promise<Attester> {
  const { network } = config
  const accounts = config.attesterKeys.map((key) => privateKeyToAccount(key.reveal() as Hex))
  assertKeysFor(attestersOf(network), accounts)
  const pool = createPool(config.databaseUrl.reveal(), { max: 4, applicationName: 'geoswap attester' })
  const chains = connectChains({
    caller: 'attester',
    ...{ network, accounts: [], signers: [], markerKey: config.markerKey },
    findSigned: (step, hashes) => findSigned(pool, step, hashes),
    urlsOf: (chain) => chain.attesterRpcUrls,
  })
  await verifyDatabase(pool, 'attester', logger)
  const opening = await openChains(chains, { logger, findLost: (chain) => findLostOn(pool, chain) })
  const deps: AttestDeps = {
    pool,
    chainOf: rememberChains(chains),
    isVerified: (chainId) => chains.of(chainId).gate.isOpen,
    isSigned: (swap) =>
      isRefundable({ custodyOf: chains.custodyOf, originOf: (id) => chains.of(id).chain }, swap),
    everywhere: chains.all,
    ...createSigning(createSigners(network, accounts, chains), chains),
    onAttested(kind, swapIds) {
      logger.info({ kind, swapIds }, 'attested')
      counters.countAttested(kind, swapIds.length)
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
      opening.stop()
      sweep?.stop()
      await server?.close()
      await pool.end()
    },
  }
}

// Final blocks stay final: a sweep every second need not read newer ones each time.
const HEADS_MS = 3_000

/** Chains whose heads are cached for a few seconds. */
function rememberChains(chains: Chains): AttestDeps['chainOf'] {
  const byId = new Map(
    chains.all.map(({ chain }) => {
      let known: { at: number; heads: Promise<Heads> } | undefined
      const readHeads = () => {
        if (known && performance.now() - known.at < HEADS_MS) return known.heads
        const heads = chain.readHeads()
        known = { at: performance.now(), heads }
        heads.catch(() => {
          known = undefined
        })
        return heads
      }
      return [chain.chainId, { ...chain, readHeads }]
    }),
  )
  return (chainId) => byId.get(chainId) ?? chains.of(chainId).chain
}

type SignerOf = (chainId: number) => Promise<PrivateKeyAccount>

/** The signer of a chain: during a rotation of attesters, the one that its escrow currently names. */
function createSigners(
  network: NetworkConfig,
  accounts: readonly PrivateKeyAccount[],
  chains: Chains,
): SignerOf {
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

function createSigning(
  signerOf: SignerOf,
  chains: Chains,
): Pick<AttestDeps, 'signClaims' | 'signRefund' | 'isTaken'> {
  const domainOf = (chainId: number) => {
    const place = chains.custodyOf(chainId)
    return 'escrow' in place ? geoOpDomain({ chainId, escrow: place.escrow }) : intakeDomain(chainId)
  }
  const toClaims = (chainId: number, ops: readonly string[]) => ({
    ...{ domain: domainOf(chainId), types: attestationTypes, primaryType: 'Claims' as const },
    message: { ops: ops as Hex[] },
  })
  const toRefund = (chainId: number, op: string, validUntil: number) => ({
    ...{ domain: domainOf(chainId), types: attestationTypes, primaryType: 'Refund' as const },
    message: { op: op as Hex, validUntil: BigInt(validUntil) },
  })
  return {
    signClaims: async (chainId, ops) => (await signerOf(chainId)).signTypedData(toClaims(chainId, ops)),
    signRefund: async (chainId, op, validUntil) =>
      (await signerOf(chainId)).signTypedData(toRefund(chainId, op, validUntil)),
    async isTaken({ chainId, kind, opHashes, validUntil = 0, signature: text }) {
      const signature = text as Hex
      const { address } = await signerOf(chainId)
      if (kind === 'claim') return verifyTypedData({ ...toClaims(chainId, opHashes), address, signature })
      return verifyTypedData({ ...toRefund(chainId, opHashes[0] ?? '', validUntil), address, signature })
    },
  }
}
