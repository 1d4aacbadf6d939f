import { join } from 'node:path'
import { type Client, createClient } from '@geoswap/sdk'
import { type Catalog, toPlainChains, toPlainTokens } from './catalog.ts'
import { UserError } from './errors.ts'
import type { Reads } from './families/family.ts'
import { parseAnyAddress } from './families/registry.ts'
import type { Key } from './keys.ts'
import { type Chain, createNode } from './nodes/node.ts'
import { type Given, getRpcUrl, getService, type Settings, toSettings } from './settings.ts'
import { type ConfigFile, type McpSetting, openConfigFile } from './store/config-file.ts'
import { type Attempt, type IsAttended, type Journal, type Order, openJournal } from './store/journal.ts'
import { findLocalNetwork } from './store/local-network.ts'
import { openPins } from './store/private-files.ts'
import { openWalletFiles, type WalletFiles } from './store/wallet-files.ts'
import type { Terminal } from './terminal.ts'

/** The process environment of a command. */
export type Surroundings = {
  /** Folder of configuration, wallets and journal. */
  home: string
  workingFolder: string
  networkHome: string | undefined
  given: Given
  passphrase: string | undefined
  gasKey: string | undefined
  /** Environment variables for `geoswap mcp`. */
  mcp: Readonly<Partial<Record<McpSetting | 'token', string | undefined>>>
}

/** Everything a command works with. */
export type Context = {
  terminal: Terminal
  interrupts: Interrupts
  settings: Settings
  /** The same with these nodes, which take precedence over those of the settings. */
  withNodes(rpcUrls: Readonly<Record<number, string>>): Context
  config: ConfigFile
  wallets: WalletFiles
  journal: Journal
  passphrase: string | undefined
  gasKey: string | undefined
  mcp: Surroundings['mcp']
  home: string
  /** Allows http to other machines. */
  isInsecure: boolean
  /** Unlocked keys by wallet. */
  unlocked?: ReadonlyMap<string, Key> | undefined
  /** Used where a live process does not imply that its attempt is still followed. */
  isAttended?: IsAttended
  /** Observations of this run, to explain errors and what an interruption leaves behind. */
  seen: { clockAheadMs?: number; order?: Order; attempt?: Attempt; swapId?: string; isPaying?: boolean }
}

// Short, because somebody may wait at the terminal; quotes expire after 30 s anyway.
const RETRY_MS = 10_000

export function createContext(
  { terminal, interrupts }: Pick<Context, 'terminal' | 'interrupts'>,
  { home, workingFolder, networkHome, given, passphrase, gasKey, mcp }: Surroundings,
): Context {
  const config = openConfigFile(home)
  const read = (more: Given = {}) =>
    toSettings({ ...given, ...more }, config.read(), findLocalNetwork(workingFolder, networkHome))
  let settings: Settings | undefined
  return {
    terminal,
    interrupts,
    config,
    passphrase,
    gasKey,
    mcp,
    home,
    isInsecure: given.isInsecure ?? false,
    seen: {},
    // Read once and only on demand, so that a command can repair a broken file.
    get settings() {
      settings ??= read()
      return settings
    },
    withNodes(rpcUrls) {
      return { ...this, settings: read({ rpcUrls }) }
    },
    wallets: openWalletFiles(join(home, 'wallets')),
    journal: openJournal(join(home, 'journal')),
  }
}

/**
 * A client of the configured service. It also records the clock difference that its replies show. `wrap` may look at
 * replies before the client does.
 */
export function connect(context: Context, wrap = (ask: typeof fetch) => ask): Client {
  const { url: baseUrl, apiKey } = getService(context.settings)
  const { contracts, rpcUrls } = context.settings
  assertPins(contracts)
  return createClient({
    baseUrl,
    apiKey,
    contracts,
    rpcUrls,
    pins: openPins(join(context.home, 'pins.json'), baseUrl),
    retry: { forMs: RETRY_MS },
    fetch: wrap(watchedFetch(context, baseUrl)),
  })
}

/** Here, so that `config set` can repair one that the file was given by hand or by an earlier version. */
function assertPins(contracts: Settings['contracts']): void {
  for (const [chainId, named] of Object.entries(contracts)) {
    for (const [name, address] of Object.entries(named)) {
      if (address === undefined || parseAnyAddress(address) !== undefined) continue
      const setting = `${name}.${chainId}`
      const message = `The setting ${setting} is no address, or its checksum is wrong: ${address}`
      const advice = `geoswap config set ${setting} ADDRESS, or geoswap config unset ${setting}.`
      throw new UserError('BAD_ADDRESS', message, { advice })
    }
  }
}

function watchedFetch({ terminal, seen }: Context, baseUrl: string): typeof fetch {
  return async (url, init) => {
    try {
      const response = await fetch(url, init)
      const date = Date.parse(response.headers.get('date') ?? '')
      if (!Number.isNaN(date)) seen.clockAheadMs = Date.now() - date
      return response
    } catch (error) {
      if (!init?.signal?.aborted) terminal.progress(`${baseUrl} does not answer, retrying`)
      throw error
    }
  }
}

export async function readCatalog(client: Client, signal: AbortSignal): Promise<Catalog> {
  const [{ chains }, { tokens }] = await Promise.all([
    client.chains({ signal }),
    client.tokens({}, { signal }),
  ])
  const known = new Set(chains.map(({ chainId }) => chainId))
  const there = tokens.filter(({ chainId }) => known.has(chainId))
  return { chains: toPlainChains(chains), tokens: toPlainTokens(there) }
}

export function nodeOf({ settings }: Pick<Context, 'settings'>, chain: Chain): Reads {
  return createNode(chain, getRpcUrl(settings, chain))
}

export type Interrupts = ReturnType<typeof createInterrupts>

// A submission is normally answered within milliseconds.
const GRACE_MS = 3_000
// npm forwards the signal that the terminal also delivers, so one press arrives twice.
const SAME_PRESS_MS = 500

export function interrupted(): UserError {
  return new UserError('INTERRUPTED', 'Interrupted.')
}

/**
 * Turns Ctrl-C into an abort signal. It can be delayed briefly where leaving at once would lose an answer.
 */
export function createInterrupts(say: (line: string) => void) {
  const controller = new AbortController()
  let isHeld = false
  let pressedAt: number | undefined
  let timer: NodeJS.Timeout | undefined

  function abort(): void {
    clearTimeout(timer)
    controller.abort(interrupted())
  }

  return {
    signal: controller.signal,

    press(): void {
      const isSame = pressedAt !== undefined && Date.now() - pressedAt < SAME_PRESS_MS
      const isFirst = pressedAt === undefined
      pressedAt ??= Date.now()
      if (isSame) return
      const isPatient = isHeld && isFirst
      if (isPatient)
        say('Interrupted: waiting for the answer to the submission. Ctrl-C again leaves at once.')
      if (isPatient) timer = setTimeout(abort, GRACE_MS)
      else abort()
    },

    hold(): void {
      isHeld = true
    },

    release(): void {
      isHeld = false
      if (pressedAt !== undefined) abort()
    },
  }
}
