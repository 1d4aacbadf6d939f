import { existsSync, readFileSync } from 'node:fs'
import { families, familyOf } from '../../chains/families.ts'
import { reasonOf } from '../../chains/findings.ts'
import { type Env, type Output, parseFlags, UsageError } from '../../command.ts'
import { connectForCommand } from '../../compose/chains.ts'
import type { Insertion } from '../../config/json-text.ts'
import { listKeys } from '../../config/keystore.ts'
import type { ChainConfig, NetworkConfig } from '../../config.ts'
import { about, missingOf } from '../../swap/gas-funding.ts'
import { readAllGas } from '../checks.ts'
import { operateOf } from '../families.ts'
import { findPayer, type Roles } from '../family.ts'
import { listPresets, type Preset, readPreset } from '../presets.ts'
import { fillInAllUrls, fillInServing } from '../served.ts'
import { assetsOf, toChain } from '../starter.ts'
import { insertionsFor } from './add-token.ts'
import { editConfig, finish, openConfig } from './config-edit.ts'

export const ADD_CHAIN_HELP = `add-chain NAME|FILE --node URL... --attester-node URL... [--keystore DIR]...
      [--accept-treasury] [--config FILE] [--dry-run] [--json]
      Adds a chain with its tokens and feeds to the configuration of a running service, and says what to do next: what
      deploy costs, which keys to fund, what to start again. NAME is a preset, FILE has the fields of one. Refused are
      nodes of another chain, tokens and feeds that differ, and a treasury whose code differs there. For Solana
      --keystore has the folders of its keys. --dry-run shows the change only.`

type Asked = ReturnType<typeof parse>

export async function addChain(args: string[], env: Env, output: Output): Promise<number> {
  const asked = parse(args)
  const preset = presetFrom(asked.source)
  const config = openConfig(env, asked.config)
  const edited = editConfig(config, insertionsOf(config.network, preset, asked))
  const network = withOnly(fillInAllUrls(withOnly(edited.network, preset), env), preset)
  const [chain] = network.chains
  if (!chain) throw new Error(`${preset.name} was not added`)
  await refuseOtherChains(chain)
  await refuseDifferences(network, preset)
  const deploying: string[] = []
  const say = (text: string) => void deploying.push(text)
  await operateOf(chain).deploy([chain], {
    network: fillInServing(edited.network, env),
    mode: 'dry-run',
    exported: undefined,
    isFinal: false,
    acceptsTreasury: asked.acceptsTreasury,
    env,
    output: { out: say, hint: say },
  })
  const facts = [...preset.notes.map((note) => `${chain.name}: ${note}`), ...deploying]
  return finish({ edited, facts, before: await stepsOf(env, network, chain) }, asked, output)
}

const withOnly = (network: NetworkConfig, { chainId }: Pick<Preset, 'chainId'>): NetworkConfig => ({
  ...network,
  chains: network.chains.filter((chain) => chain.chainId === chainId),
})

function presetFrom(source: string): Preset {
  const known = readPreset(source)
  if (known) return known
  if (!existsSync(source))
    throw new UsageError(`${source} is no preset and no file. Presets: ${listPresets().join(', ')}.`)
  const given = readJson(source)
  const { name, chainId, family, native } = given
  const isChain = typeof name === 'string' && Number.isSafeInteger(chainId) && native !== undefined
  if (!isChain || !families.some((each) => each.name === family))
    throw new UsageError(`${source} needs name, chainId, family and native, as a preset has them.`)
  return { tokens: [], feeds: [], notes: [], ...(given as Omit<Preset, 'tokens' | 'feeds' | 'notes'>) }
}

function readJson(file: string): Partial<Preset> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return typeof value === 'object' && value !== null ? value : {}
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${reasonOf(error)}`)
  }
}

/** Nothing for a chain that the file has. */
function insertionsOf(network: NetworkConfig, preset: Preset, asked: Asked): Insertion[] {
  const { name, chainId } = preset
  if (network.chains.some((chain) => chain.chainId === chainId)) return []
  if (asked.nodes.length === 0 || asked.attesterNodes.length === 0)
    throw new UsageError('Nodes missing: --node URL and --attester-node URL, each once or more.')
  const nodes = {
    rpcUrls: new Map([[name, asked.nodes]]),
    attesterRpcUrls: new Map([[name, asked.attesterNodes]]),
  }
  const used = [preset.native, ...preset.tokens].map(({ asset }) => asset)
  const wanted = assetsOf([preset]).filter((asset) => used.includes(asset.name))
  const isKnown = (asset: { name: string }) => network.assets.some((each) => each.name === asset.name)
  const more = wanted.filter(isKnown).flatMap(({ name: asset, sources }): Insertion[] => {
    const index = network.assets.findIndex((each) => each.name === asset)
    const present = network.assets[index]?.sources.map(keyOf)
    const missing = sources.filter(
      (source) =>
        typeof source !== 'string' &&
        !present?.includes(keyOf(source)) &&
        (source.kind !== 'pyth' || network.pyth !== undefined),
    )
    return missing.map((value) => ({ path: ['assets', index, 'sources', -1], value }))
  })
  const chain = toChain(preset, rolesOf(network, asked), nodes)
  const fresh = wanted.filter((asset) => !isKnown(asset))
  return insertionsFor(network, fresh, [...more, { path: ['chains', -1], value: chain }])
}

type SourceKey = { feedId?: string; chainId?: number; address?: string } | string

const keyOf = (source: SourceKey) =>
  typeof source === 'string'
    ? source
    : (source.feedId ?? `${source.chainId}:${source.address?.toLowerCase()}`)

/** The attesters and the treasury of the other chains, so that contracts get the same addresses. */
function rolesOf({ treasury, attesters }: NetworkConfig, { keystores }: Asked): Roles {
  const members = attesters.members.map((address) => ({ role: 'attester' as const, address }))
  const own = keystores.flatMap(listKeys).filter(({ role }) => role !== 'attester')
  return { treasury, threshold: attesters.threshold, keys: [...members, ...own] }
}

/** Each node by name. One that is silent is told by `doctor`; without any answer nothing can be checked. */
async function refuseOtherChains(chain: ChainConfig): Promise<void> {
  const { idOf, readIds } = operateOf(chain).candidates
  const wanted = idOf(chain)
  const urls = [...new Set([...chain.rpcUrls, ...chain.attesterRpcUrls])]
  const served = await Promise.allSettled(readIds(urls))
  const wrong = served.flatMap((each, index) =>
    each.status === 'fulfilled' && wanted !== undefined && each.value !== wanted
      ? [`${new URL(urls[index] ?? '').host} serves chain ${each.value}, not ${wanted}`]
      : [],
  )
  if (wrong.length > 0) throw new UsageError(`${chain.name}: ${wrong.join('\n')}`)
  if (served.every(({ status }) => status === 'rejected'))
    throw new UsageError(`${chain.name}: none of its nodes answers.`)
}

/** Tokens and feeds of the new chain as a start checks them. Contracts need not be there yet. */
async function refuseDifferences(network: NetworkConfig, { chainId }: Preset): Promise<void> {
  const { closed = [], warnings } = await connectForCommand(network).of(chainId).verify()
  const ofFeeds = warnings.filter((text) => text.endsWith('it gives no price'))
  const differing = closed.filter(({ isUndeployed }) => !isUndeployed)
  const wrong = [...differing.map(({ why }) => why), ...ofFeeds]
  if (wrong.length > 0) throw new UsageError(`${wrong.join('\n')}\nThe file is unchanged.`)
}

async function stepsOf(env: Env, network: NetworkConfig, chain: ChainConfig): Promise<string[]> {
  const { name, native } = chain
  const { payer } = operateOf(chain)
  const { decimals } = familyOf(chain).nativeToken
  const [gas] = await readAllGas(network, connectForCommand(network))
  const keys = gas?.keys ?? []
  const missing = keys.map(missingOf)
  const total = missing.reduce((sum, amount) => sum + amount, 0n)
  const count = missing.filter((amount) => amount > 0n).length
  const from = findPayer(env, payer) ?? `the key in ${payer.variable}`
  const coins = (amount: bigint) => `${about(amount, decimals)} ${native.symbol}`
  return [
    `Send ${native.symbol} to ${from}, which pays for deploy and fund.`,
    `service deploy --chain ${name}`,
    total === 0n
      ? 'service fund plan: every key has gas'
      : `service fund apply: ${coins(total)} to ${count} keys`,
    familyOf(chain).traits.hasContracts
      ? `service treasury plan --chain ${name}, then apply or --safe PREFIX, with --stock ${name}:TOKEN=AMOUNT: ` +
        'deliverers, caps and inventory.'
      : 'Send the stock to the vault of the file.',
  ]
}

function parse(args: string[]) {
  const list = { type: 'string', multiple: true } as const
  const flag = { type: 'boolean', default: false } as const
  const { values, positionals } = parseFlags({
    args,
    allowPositionals: true,
    options: {
      node: list,
      'attester-node': list,
      keystore: list,
      config: { type: 'string' },
      json: flag,
      'dry-run': flag,
      'accept-treasury': flag,
    },
  })
  const [source, ...others] = positionals
  if (source === undefined || others.length > 0)
    throw new UsageError('Name one chain: add-chain NAME --node URL --attester-node URL')
  const { node: nodes = [], keystore: keystores = [], config, json } = values
  return {
    source,
    nodes,
    attesterNodes: values['attester-node'] ?? [],
    keystores,
    config,
    json,
    isDry: values['dry-run'],
    acceptsTreasury: values['accept-treasury'],
  }
}
