import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ConnectedChain } from '../../chains/families.ts'
import type { ChainState } from '../../chains/view.ts'
import { type DatabaseTarget, type Env, findDatabaseTarget, UsageError } from '../../command.ts'
import { toCatalog } from '../../compose/catalog.ts'
import { type Chains, connectForCommand, type Signers } from '../../compose/chains.ts'
import { createPriceSources, priceRulesOf } from '../../compose/prices.ts'
import { optionalSecret } from '../../config/secrets.ts'
import type { ChainConfig, NetworkConfig, Secret } from '../../config.ts'
import type { Aged } from '../../engine/views.ts'
import { createPriceBook, type PriceBook } from '../../market/prices/book.ts'
import type { Catalog, Token } from '../../swap/catalog.ts'
import { findNetwork } from '../served.ts'

/** All configured chains, for inventory commands. */
export type InventorySession = {
  network: NetworkConfig
  chains: Chains
  catalog: Catalog
  /** Names of the chains that do not answer; the catalog lacks them. */
  silent: readonly string[]
}

/** From DATABASE_URL and GEOSWAP_CONFIG, or those of the local network. */
export function findSettings(env: Env): { target: DatabaseTarget; network: NetworkConfig } {
  return { target: findDatabaseTarget(env), network: findNetwork(env) }
}

export async function openSession(env: Env, signers: Signers = {}): Promise<InventorySession> {
  const { network } = findSettings(env)
  const chains = connectForCommand(network, { signers })
  const { catalog, silent } = await loadAnswering(network, chains)
  return { network, chains, catalog, silent }
}

/** Loads the chains that answer, since operators need this most when something is down. */
async function loadAnswering(network: NetworkConfig, { all }: Chains) {
  const read = await Promise.allSettled(all.map((chain) => chain.loadTokens()))
  const loaded = new Map(
    all.flatMap(({ config }, index) => {
      const result = read[index]
      return result?.status === 'fulfilled' ? [[config.chainId, result.value] as const] : []
    }),
  )
  const isSilent = ({ config }: ConnectedChain) => !loaded.has(config.chainId)
  const answering = all.filter((chain) => !isSilent(chain))
  return {
    catalog: toCatalog(network, answering, loaded),
    silent: all.filter(isSilent).map(({ config }) => config.name),
  }
}

/** Reads a secret that the local network keeps for commands on its machine. */
export function readLocalSecret(env: Env, name: string): string | undefined {
  const file = join(resolve(env['GEOSWAP_HOME'] ?? '.geoswap'), 'secrets.json')
  if (!existsSync(file)) return undefined
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'))[name]
  return typeof value === 'string' ? value : undefined
}

/** Current prices. An asset without a price is missing from sums, not from lists. */
export async function readPrices(
  env: Env,
  { network, chains }: Pick<InventorySession, 'network' | 'chains'>,
): Promise<PriceBook> {
  const config = { network, pythApiKey: readPythKey(env) }
  const states = await readStates(chains)
  const book = createPriceBook({
    sources: createPriceSources(config, (chainId) => states.get(chainId)),
    rules: priceRulesOf(config),
    isLive: () => true,
    now: Date.now,
    onFault: () => {},
  })
  await Promise.all(book.sources.map((source) => book.refresh(source)))
  return book
}

export function readPythKey(env: Env): Secret | undefined {
  const problems: string[] = []
  const key = optionalSecret(env, 'GEOSWAP_PYTH_API_KEY', problems)
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return key
}

/** The current states of the chains that answer. */
async function readStates({ all }: Chains): Promise<Map<number, Aged<ChainState>>> {
  const read = await Promise.allSettled(
    all.map(async ({ chain, view }) => ({
      chainId: chain.chainId,
      state: await view.readState(await chain.readHeads()),
    })),
  )
  return new Map(
    read.flatMap((each) =>
      each.status === 'fulfilled'
        ? [[each.value.chainId, { value: each.value.state, ageMs: 0 }] as const]
        : [],
    ),
  )
}

export function findChain({ chains }: InventorySession, name: string): ConnectedChain {
  const found = chains.all.find(({ config }) => config.name === name || String(config.chainId) === name)
  if (found) return found
  throw new UsageError(
    `Unknown chain ${name}. Chains: ${chains.all.map(({ config }) => config.name).join(', ')}.`,
  )
}

/** Finds a token by symbol or address. */
export function findTokenOf(
  { catalog }: { catalog: { chains: ReadonlyMap<number, { tokens: readonly Token[] }> } },
  { config }: { config: Pick<ChainConfig, 'name' | 'chainId'> },
  name: string,
): Token {
  const tokens = catalog.chains.get(config.chainId)?.tokens
  if (!tokens) throw new Error(`${config.name} does not answer. Nothing was sent.`)
  const wanted = name.toLowerCase()
  const found = tokens.find(
    ({ symbol, address }) => symbol.toLowerCase() === wanted || address.toLowerCase() === wanted,
  )
  if (found) return found
  throw new UsageError(
    `${config.name} has no token ${name}. Tokens: ${tokens.map(({ symbol }) => symbol).join(', ')}.`,
  )
}
