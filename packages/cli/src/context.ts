import { join } from 'node:path'
import { type Client, createClient } from '@geoswap/sdk'
import { type Catalog, toPlainChains, toPlainTokens } from './catalog.ts'
import type { Interrupts } from './interrupts.ts'
import type { Key } from './keys.ts'
import { type Chain, createNode } from './nodes/node.ts'
import type { Reads } from './nodes/reads.ts'
import { type Given, getRpcUrl, getService, type Settings, toSettings } from './settings.ts'
import { type ConfigFile, type McpSetting, openConfigFile } from './store/config-file.ts'
import { type Attempt, type IsAttended, type Journal, type Order, openJournal } from './store/journal.ts'
import { findLocalNetwork } from './store/local-network.ts'
import { openPins } from './store/pins.ts'
import { openWalletFiles, type WalletFiles } from './store/wallet-files.ts'
import type { Terminal } from './terminal.ts'

/** What the world outside gives to a command. */
export type Surroundings = {
  /** Where configuration, wallets and journal are. */
  home: string
  workingFolder: string
  networkHome: string | undefined
  given: Given
  passphrase: string | undefined
  gasKey: string | undefined
  /** What the environment says to `geoswap mcp`. */
  mcp: Readonly<Partial<Record<McpSetting | 'token', string | undefined>>>
}

/** What a command works with. */
export type Context = {
  terminal: Terminal
  interrupts: Interrupts
  settings: Settings
  config: ConfigFile
  wallets: WalletFiles
  journal: Journal
  passphrase: string | undefined
  gasKey: string | undefined
  mcp: Surroundings['mcp']
  home: string
  /** By wallet: keys that are there before a command asks for them. */
  unlocked?: ReadonlyMap<string, Key> | undefined
  /** Where a live process does not mean that it is still at its attempt. */
  isAttended?: IsAttended
  /** What was found out on the way: to explain errors, and what an interruption leaves behind. */
  seen: { clockAheadMs?: number; order?: Order; attempt?: Attempt; swapId?: string }
}

// Who waits at a terminal would rather know; quotes live no longer than 30 s anyway.
const RETRY_MS = 10_000

export function createContext(
  { terminal, interrupts }: Pick<Context, 'terminal' | 'interrupts'>,
  { home, workingFolder, networkHome, given, passphrase, gasKey, mcp }: Surroundings,
): Context {
  const config = openConfigFile(home)
  let settings: Settings | undefined
  return {
    ...{ terminal, interrupts, config, passphrase, gasKey, mcp, home, seen: {} },
    // Read once, and only by commands that need it: another one may be there to mend a broken file.
    get settings() {
      settings ??= toSettings(given, config.read(), findLocalNetwork(workingFolder, networkHome))
      return settings
    },
    wallets: openWalletFiles(join(home, 'wallets')),
    journal: openJournal(join(home, 'journal')),
  }
}

/** A client of the configured service that also notes what its replies say of this machine's clock. */
export function connect(context: Context): Client {
  const { url: baseUrl, apiKey } = getService(context.settings)
  const { contracts, rpcUrls } = context.settings
  return createClient({
    baseUrl,
    apiKey,
    contracts,
    rpcUrls,
    pins: openPins(join(context.home, 'pins.json'), baseUrl),
    retry: { forMs: RETRY_MS },
    fetch: watchedFetch(context, baseUrl),
  })
}

function watchedFetch({ terminal, seen }: Context, baseUrl: string): typeof fetch {
  return async (url, init) => {
    try {
      const response = await fetch(url, init)
      const date = Date.parse(response.headers.get('date') ?? '')
      if (!Number.isNaN(date)) seen.clockAheadMs = Date.now() - date
      return response
    } catch (error) {
      if (!init?.signal?.aborted) terminal.progress(`${baseUrl} does not answer, trying again`)
      throw error
    }
  }
}

export async function readCatalog(client: Client, signal: AbortSignal): Promise<Catalog> {
  const [{ chains }, { tokens }] = await Promise.all([
    client.chains({ signal }),
    client.tokens({}, { signal }),
  ])
  return { chains: toPlainChains(chains), tokens: toPlainTokens(tokens) }
}

export function nodeOf({ settings }: Pick<Context, 'settings'>, chain: Chain): Reads {
  return createNode(chain, getRpcUrl(settings, chain))
}
