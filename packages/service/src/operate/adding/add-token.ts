import { familyOf } from '../../chains/families.ts'
import { describeError, type Env, type Output, parseFlags, UsageError } from '../../command.ts'
import { connectForCommand, waysIn } from '../../compose/chains.ts'
import { verifyPyth } from '../../compose/prices.ts'
import type { Insertion } from '../../config/json-text.ts'
import type { AssetConfig, ChainConfig, NetworkConfig } from '../../config.ts'
import { judgePrices, readAssets } from '../doctor/doctor.ts'
import { operateOf } from '../families.ts'
import type { Listing } from '../family.ts'
import { readPythKey } from '../inventory/session.ts'
import { findPresetOf, type Preset, type Source } from '../presets.ts'
import { fillInServing, getChainConfig } from '../served.ts'
import { assetsOf, capsOf, HERMES, isStable } from '../starter.ts'
import { editConfig, finish, openConfig } from './config-edit.ts'

export const ADD_TOKEN_HELP = `add-token --chain NAME --token SYMBOL|ADDRESS [--symbol SYMBOL] [--asset NAME] [--stable]
      [--feed FEED]... [--cap COINS] [--plain] [--holder ADDRESS] [--config FILE] [--dry-run] [--json]
      Adds a token to the configuration of a running service, and says what to do next. A symbol is looked up in the
      preset of the chain. The chain tells symbol, decimals and the ways in; on Solana --symbol has to. Tokens that
      rebase or take a fee are refused: of --holder, or else vault or treasury, a transfer is simulated.
      --asset is required where the symbol of a token that no preset has is that of an asset of the file.
      A new asset (by default the symbol) needs price feeds that give a price now: those of the presets, or
      --feed CHAIN:ADDRESS:SECONDS (Chainlink) or --feed pyth:ID:SECONDS, with the age above which they are stale.
      --cap is the cap of an hour. --plain: transfers move exactly their amount. --dry-run shows the change only.`

type Asked = ReturnType<typeof parse>
type Config = ReturnType<typeof openConfig>

export async function addToken(args: string[], env: Env, output: Output): Promise<number> {
  const asked = parse(args)
  const config = openConfig(env, asked.config)
  const written = getChainConfig(config.network, asked.chain)
  const known = findKnown(written, asked.token)
  const address = known?.address ?? addressOf(written, asked.token)
  const [chain = written] = fillInServing({ ...config.network, chains: [written] }, env).chains
  const listing = await readListing(config.network, chain, { address, holder: asked.holder })
  const symbol = asked.symbol ?? listing.symbol ?? known?.symbol
  if (symbol === undefined) throw new UsageError(`${address} tells no symbol: give --symbol.`)
  if (listing.fault) throw new UsageError(`${written.name}: ${symbol} cannot be listed: it ${listing.fault}.`)
  const token = { symbol, address, asset: asked.asset ?? known?.asset ?? symbol }
  const edited = editConfig(config, insertionsOf(config, written, { token, listing, asked }))
  const isNewAsset = !config.network.assets.some(({ name }) => name === token.asset)
  const facts = await checkToken(env, edited.network, { chainId: written.chainId, token, isNewAsset })
  return finish({ edited, facts, before: stepsOf(written, token) }, asked, output)
}

/** A token of the preset of this chain. */
function findKnown(chain: ChainConfig, text: string) {
  const { addresses } = familyOf(chain)
  return findPresetOf(chain.chainId)?.tokens.find(
    ({ symbol, address }) => symbol === text || addresses.keyOf(address) === addresses.keyOf(text),
  )
}

function addressOf(chain: ChainConfig, text: string): string {
  const { pattern, findFault, form, parse } = familyOf(chain).addresses
  if (!pattern.test(text))
    throw new UsageError(`The preset of ${chain.name} has no token ${text}: give its address, ${form}.`)
  const fault = findFault(text, 'a token')
  if (fault) throw new UsageError(`${fault}.`)
  return parse(text) ?? text
}

async function readListing(
  network: NetworkConfig,
  chain: ChainConfig,
  asked: { address: string; holder: string | undefined },
): Promise<Listing> {
  const found = await operateOf(chain)
    .candidates.readToken(network, chain, asked)
    .catch((error: unknown) => {
      throw new Error(`${chain.name}: ${describeError(error)}`, { cause: error })
    })
  if (found) return found
  throw new UsageError(`${chain.name}: there is no token at ${asked.address}.`)
}

type Token = { symbol: string; address: string; asset: string }
type Wanted = { token: Token; listing: Listing; asked: Asked }

/** Nothing for a token that the file has. */
function insertionsOf({ network }: Config, chain: ChainConfig, { token, listing, asked }: Wanted) {
  const { keyOf } = familyOf(chain).addresses
  const present = chain.tokens.find(({ address }) => keyOf(address) === keyOf(token.address))
  if (present && present.asset !== token.asset)
    throw new UsageError(`${present.symbol} is there already, of the asset ${present.asset}. Edit the file.`)
  if (present) return []
  const known = findKnown(chain, token.address)
  const hasAsset = network.assets.some(({ name }) => name === token.asset)
  if (hasAsset && !known && asked.asset === undefined)
    throw new UsageError(
      `${token.address} is no token of the presets, and anyone can name a token ${token.symbol}. ` +
        `If it is worth as much as the asset ${token.asset} of the file, give --asset ${token.asset}.`,
    )
  if (hasAsset && asked.feeds.length > 0)
    throw new UsageError(`${token.asset} has its feeds already. Add others to the file.`)
  const presets = network.chains.flatMap(({ chainId }) => findPresetOf(chainId) ?? [])
  const asset = hasAsset ? [] : [assetFrom(network, presets, { name: token.asset, asked })]
  const caps = capsOf(token.asset, asked.cap)
  if (!caps) throw new UsageError(`--cap missing: the most ${token.symbol} that may be paid in an hour.`)
  const plain = asked.plain || known?.plain
  const entry = {
    ...token,
    decimals: listing.decimals,
    plain: plain && familyOf(chain).traits.hasContracts ? true : undefined,
    ...operateOf(chain).starter.caps(caps),
  }
  return insertionsFor(network, asset, [
    { path: ['chains', network.chains.indexOf(chain), 'tokens', -1], value: entry },
  ])
}

type NewAsset = Pick<AssetConfig, 'name'> & { sources: readonly unknown[] }

/** New assets, and the server that their Pyth feeds need, before what names them. */
export function insertionsFor(
  { pyth }: NetworkConfig,
  assets: readonly NewAsset[],
  rest: readonly Insertion[],
): Insertion[] {
  const usesPyth = assets.some(({ sources }) =>
    (sources as readonly Partial<Source>[]).some(({ kind }) => kind === 'pyth'),
  )
  const server = usesPyth && !pyth ? [{ path: ['pyth'], value: { url: HERMES } }] : []
  return [...assets.map((value) => ({ path: ['assets', -1], value })), ...server, ...rest]
}

function assetFrom(
  network: NetworkConfig,
  presets: readonly Preset[],
  { name, asked }: { name: string; asked: Asked },
): NewAsset {
  const usdStable = asked.stable || isStable(name) || undefined
  const given = asked.feeds.map((feed) => toSource(network, feed))
  const known = assetsOf(presets).find((asset) => asset.name === name)
  const sources = given.length > 0 ? given : (known?.sources ?? [])
  if (sources.length === 0) throw new UsageError(`${name} is a new asset without a price: give --feed.`)
  return { ...known, name, usdStable, sources, minSources: sources.length > 2 ? 2 : 1 } as NewAsset
}

function toSource(network: NetworkConfig, text: string): Source {
  const [, where = '', what = '', seconds = ''] = /^([^:]+):(0x[0-9a-fA-F]+):(\d+)$/.exec(text) ?? []
  if (!what) throw new UsageError(`${text} is not CHAIN:ADDRESS:SECONDS or pyth:ID:SECONDS.`)
  const maxAgeSeconds = Number(seconds)
  if (where === 'pyth') return { kind: 'pyth', feedId: what, maxAgeSeconds }
  const { chainId } = getChainConfig(network, where)
  return { kind: 'chainlink', chainId, address: what, maxAgeSeconds }
}

type Checked = { chainId: number; token: Token; isNewAsset: boolean }

/** As a start and `doctor` check it. Throws what is wrong; of a new asset each feed has to give a price. */
async function checkToken(
  env: Env,
  written: NetworkConfig,
  { chainId, token, isNewAsset }: Checked,
): Promise<string[]> {
  const network = fillInServing(written, env)
  const chains = connectForCommand(network)
  const connected = chains.of(chainId)
  const assets = network.assets.filter(({ name }) => name === token.asset)
  const priced = { ...network, assets }
  const { keyOf } = connected.family.addresses
  const isIt = (address: string) => keyOf(address) === keyOf(token.address)
  const [{ closed = [] }, tokens, names, prices] = await Promise.all([
    connected.verify(),
    connected.loadTokens(),
    verifyPyth({ network: priced, pythApiKey: readPythKey(env) }),
    readAssets(env, priced, chains).then(judgePrices),
  ])
  const wrong = [
    ...closed.filter(({ token, isUndeployed }) => isIt(token) && !isUndeployed).map(({ why }) => why),
    ...names.problems,
    ...prices.problems,
    ...prices.warnings.filter((text) => isNewAsset && text.startsWith(`${token.asset}: `)),
  ]
  if (wrong.length > 0) throw new UsageError(`${wrong.join('\n')}\nThe file is unchanged.`)
  const read = tokens.find(({ address }) => isIt(address))
  if (!read) throw new UsageError(`${connected.config.name}: ${token.symbol} cannot be read.`)
  const ways = waysIn(connected, read)
  const { signing } = read
  const domain = signing ? `; it signs as ${JSON.stringify(signing.name)} ${signing.version}` : ''
  return [
    `${connected.config.name}: ${token.symbol} ${read.address}, ${read.decimals} decimals, asset ${token.asset}`,
    ...(ways.length > 0 ? [`comes in by ${ways.join(', ')}${domain}`] : []),
    ...prices.warnings,
  ]
}

function stepsOf(chain: ChainConfig, { symbol }: Token): string[] {
  const { name } = chain
  if (!familyOf(chain).traits.hasContracts)
    return [`service deploy --chain ${name}`, `Send the stock of ${symbol} to the vault ${vaultOf(chain)}.`]
  const stock = `--stock ${name}:${symbol}=AMOUNT`
  return [
    `service treasury plan --chain ${name} ${stock}, then the same with apply, or --safe PREFIX: ` +
      'it sets the caps and fills the vault from the treasury.',
  ]
}

const vaultOf = (chain: ChainConfig) => ('vault' in chain ? chain.vault : '')

function parse(args: string[]) {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const { values } = parseFlags({
    args,
    options: {
      chain: text,
      token: text,
      symbol: text,
      asset: text,
      feed: { type: 'string', multiple: true },
      cap: text,
      holder: text,
      config: text,
      stable: flag,
      plain: flag,
      json: flag,
      'dry-run': flag,
    },
  })
  const { chain, token, cap, feed: feeds = [], ...rest } = values
  if (!chain || !token) throw new UsageError('Chain or token missing: add-token --chain NAME --token ADDRESS')
  if (cap !== undefined && !/^(0|[1-9]\d*)(\.\d+)?$/.test(cap))
    throw new UsageError('--cap is an amount in whole coins, such as 5000.')
  return { ...rest, chain, token, cap, feeds, isDry: rest['dry-run'] }
}
