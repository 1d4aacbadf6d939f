import type { FastifyInstance } from 'fastify'
import { type Address, getAddress, type Hex, recoverMessageAddress, serializeSignature } from 'viem'
import { parseEvmAddress } from '../chains/evm/address.ts'
import { isSignedBy } from '../chains/evm/delegation.ts'
import { type Config, defaultDeadlines } from '../config.ts'
import { ServiceError } from '../errors.ts'
import { type BuildDeps, buildGeoOp, type SealedOp } from '../flow/build/build-evm.ts'
import { delegation } from '../flow/build/delegation.ts'
import { quote } from '../flow/quote/quote.ts'
import { createStatusReads } from '../flow/status/wait.ts'
import { type SubmitDeps, submit } from '../flow/submit/submit.ts'
import { createKeyTable } from '../http/key-table.ts'
import { createRateLimiter } from '../http/rate-limit.ts'
import { createServer, type Handlers } from '../http/server.ts'
import { createMarket } from '../market/market.ts'
import type { Catalog, Market } from '../model/catalog.ts'
import { fromSealed } from '../model/quote.ts'
import type { Logger } from '../observe/logger.ts'
import { createMetrics } from '../observe/metrics.ts'
import { createSealer, type JsonValue } from '../seal/sealer.ts'
import { findActiveKeys } from '../store/api-keys.ts'
import { createPool } from '../store/db.ts'
import { readInventory } from '../store/inventory.ts'
import { createListener } from '../store/listen.ts'
import { leaseBudgets } from '../store/rate-budgets.ts'
import { findEnded, readStatuses } from '../store/statuses.ts'
import { type Chains, connectChains, loadCatalog, maxHeadAgeMs, verifyChains } from './chains.ts'
import { createPriceReader } from './prices.ts'
import { addServiceMetrics } from './service-metrics.ts'
import { createKnownWallets, every, within } from './timing.ts'

const MARKET_REFRESH_MS = 500
const MAX_UNSUBMITTED = 256

export type Api = { app: FastifyInstance; close(): Promise<void> }

/** The HTTP API with everything it needs: it holds no key that can move money. */
export async function composeApi(config: Config, logger: Logger): Promise<Api> {
  const { network } = config
  const pool = createPool(config.databaseUrl.reveal(), { max: 20, applicationName: 'geoswap api' })
  const chains = connectChains({ network, urlsOf: (chain) => chain.rpcUrls, accounts: [] })
  await verifyChains(network, chains)
  const catalog = await loadCatalog(network, chains)
  const onFault = (error: unknown, source: string) => logger.warn({ err: error, source }, 'refresh failed')
  const market = createMarket({
    ...marketSources(network, chains),
    readInventory: () => readInventory(pool),
    onFault,
  })
  await market.refresh()

  const keys = createKeyTable({
    findActiveKeys: () => findActiveKeys(pool),
    onError: (e) => onFault(e, 'keys'),
  })
  const limiter = createRateLimiter({ leaseBudgets: (leases) => leaseBudgets(pool, leases) })
  const statusReads = createStatusReads({
    readStatuses: (wanted) => readStatuses(pool, wanted),
    findEnded: (ids) => findEnded(pool, ids),
    onError: (error) => onFault(error, 'status'),
  })
  const metrics = createMetrics({ heldReads: statusReads.heldCount })
  addServiceMetrics(metrics.registry, {
    pool,
    chains: chains.all,
    senders: [...network.relayers, ...network.deliverers],
  })
  await keys.start()
  const listener = createListener({
    url: config.databaseUrl.reveal(),
    channels: { swap_terminal: statusReads.swapEnded, api_keys: () => void keys.refresh().catch(() => {}) },
    onConnect: () => statusReads.setListening(true),
    onDisconnect: () => statusReads.setListening(false),
  })
  const refreshing = every(MARKET_REFRESH_MS, () => market.refresh())
  const app = await createServer({
    handlers: createHandlers(config, { pool, chains, catalog, market }),
    statusReads,
    keys,
    limiter,
    ready: () => readiness(catalog, market, pool),
    logger,
    metrics,
    basePath: network.basePath ?? '',
  })
  const close = async () => {
    await app.close()
    refreshing.stop()
    keys.close()
    await Promise.allSettled([listener.close(), limiter.close()])
    await pool.end()
  }
  return { app, close }
}

function marketSources(network: Config['network'], chains: Chains) {
  const feedChains = new Map(network.assets.map(({ name, feed }) => [name, feed.chainId]))
  return {
    chains: chains.all.map(toMarketSource),
    readPrices: createPriceReader(network, chains),
    feedChainOf: (asset: string) => feedChains.get(asset),
    now: Date.now,
  }
}

function toMarketSource({ config, chain }: Chains['all'][number]) {
  return {
    chainId: config.chainId,
    maxHeadAgeMs: maxHeadAgeMs(config),
    async readNow() {
      const heads = await chain.readHeads()
      const { maxFeePerGas, maxPriorityFeePerGas: tip } = await chain.readFees(heads)
      // The fee cap is twice the base fee and the tip: what is paid is about half of it.
      return {
        seconds: heads.head.seconds,
        block: heads.head.number,
        gasPriceWei: (maxFeePerGas - tip) / 2n + tip,
      }
    },
  }
}

async function readiness(catalog: Catalog, market: Market, pool: BuildDeps['pool']) {
  const database = await pool.query('select 1').then(
    () => true,
    () => false,
  )
  const alive = [...catalog.chains.values()].map((chain) => [
    chain.name,
    market.chainNow(chain.chainId) !== undefined,
  ])
  const prices = [...catalog.assets.keys()].map((name) => [name, market.priceOf(name) !== undefined])
  const checks = { database, chains: Object.fromEntries(alive), prices: Object.fromEntries(prices) }
  // One chain or price that is down stops its own quotes, not the service.
  return { ok: database && alive.some(([, isAlive]) => isAlive === true), checks }
}

type Parts = { pool: BuildDeps['pool']; chains: Chains; catalog: Catalog; market: Market }

function createHandlers(config: Config, { pool, chains, catalog, market }: Parts): Handlers {
  const { network } = config
  const keys = config.sealKeys.map(({ id, key }) => ({ id, key: Buffer.from(key.reveal(), 'hex') }))
  const sealer = createSealer({ keys })
  const known = createKnownWallets()
  const originOf = (chainId: number) => chains.of(chainId).chain
  const parseAddress = (_family: 'evm', text: string) => parseEvmAddress(text)
  const openQuote = (accountId: string, token: string) => fromSealed(sealer.open('quote', accountId, token))
  const openOp = (accountId: string, token: string) =>
    sealer.open('op', accountId, token) as unknown as SealedOp
  const quoteDeps = {
    ...{ catalog, market, parseAddress, now: Date.now, isKnownDelegated: known.has },
    sealQuote: (accountId: string, payload: unknown) => sealer.seal('quote', accountId, payload as JsonValue),
    feeCentiBps: network.feeCentiBps ?? 1_250,
    highImpactBps: network.highImpactBps ?? 500,
    quoteTtlMs: network.quoteTtlMs ?? 30_000,
  }
  const contractsOf = (chainId: number) => chains.of(chainId).contracts
  const delegationTargetOf = (chainId: number) => contractsOf(chainId).account
  const delegationDeps = { catalog, originOf, parseAddress, delegationTargetOf, rememberDelegated: known.add }
  const buildDeps: BuildDeps = {
    ...{
      pool,
      catalog,
      market,
      originOf,
      contractsOf,
      openQuote,
      now: Date.now,
      rememberDelegated: known.add,
    },
    lockers: network.relayers.map((address) => getAddress(address)),
    isSignedBy: (wallet, signed) => isSignedBy(wallet as Address, signed),
    sealOp: (accountId, op) => sealer.seal('op', accountId, op as unknown as JsonValue),
    deadlines: { ...defaultDeadlines, ...network.deadlines },
    maxUnsubmitted: MAX_UNSUBMITTED,
  }
  const submitDeps: SubmitDeps = { pool, openOp, originOf, recoverSigner, within, onAccepted: () => {} }
  return {
    quote: (caller, body) => quote(quoteDeps, caller.accountId, body),
    delegation: (_caller, query) => delegation(delegationDeps, query),
    buildGeoOp: (caller, body) => buildGeoOp(buildDeps, caller.accountId, body),
    buildSolanaTx: (caller, body) => refuseOtherFamily(() => openQuote(caller.accountId, body.geoQuoteToken)),
    submit: (caller, body) => submit(submitDeps, caller.accountId, body),
    submitSolana: (caller, body) => refuseOtherFamily(() => openOp(caller.accountId, body.geoOpToken)),
  }
}

/** No chain of this family is served: every genuine token belongs to the other calls. */
function refuseOtherFamily(open: () => unknown): never {
  open()
  throw new ServiceError('INVALID_TOKEN')
}

async function recoverSigner(hash: string, { r, s, yParity }: { r: string; s: string; yParity: number }) {
  const signature = serializeSignature({ r: r as Hex, s: s as Hex, yParity })
  // The wallet signs the 32 bytes with EIP-191 personal_sign. No point of the curve: nobody signed.
  return recoverMessageAddress({ message: { raw: hash as Hex }, signature }).catch(() => undefined)
}
