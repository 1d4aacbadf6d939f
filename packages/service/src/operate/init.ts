import { writeFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getAddress, isAddress } from 'viem'
import { type Output, parseFlags, UsageError } from '../command.ts'
import { listKeys } from '../config/keystore.ts'
import { addressesOf } from './family.ts'
import { listPresets, type Preset, readPreset } from './presets.ts'
import { createStarter } from './starter.ts'

export const INIT_HELP = `init --chains NAME,NAME [--treasury ADDRESS] [--keystore DIR]... [--node CHAIN=URL]...
      [--attester-node CHAIN=URL]... [--threshold N] [--out FILE]
      Writes a configuration of public chains with tokens, feeds, finality and caps. Roles come from the keystores;
      nodes and roles that are not given have to be filled in. With treasury and attesters it includes the addresses
      that deploy will use. Of several attesters --threshold have to sign, by default a majority.
      Chains: see packages/service/presets.`

/** The options of init; setup gives them too. */
export type Asked = {
  chains: readonly string[]
  treasury?: string | undefined
  keystores: readonly string[]
  /** CHAIN=URL. */
  nodes: readonly string[]
  attesterNodes: readonly string[]
  threshold?: string | undefined
  out?: string | undefined
}

export async function init(args: string[], output: Output): Promise<number> {
  writeStarter(parse(args), output)
  return 0
}

export function writeStarter(asked: Asked, output: Output): void {
  const { chains, treasury, keystores, out, threshold } = asked
  if (treasury !== undefined && !isAddress(treasury)) throw new UsageError(`${treasury} is not an address.`)
  const presets = chains.map(getPreset)
  refuseMixedNetworks(presets)
  const nodes = {
    rpcUrls: nodesOf(chains, asked.nodes),
    attesterRpcUrls: nodesOf(chains, asked.attesterNodes),
  }
  const keys = keystores.flatMap(listKeys)
  const roles = {
    keys,
    treasury: treasury && getAddress(treasury),
    threshold:
      threshold === undefined
        ? undefined
        : thresholdFrom(threshold, addressesOf({ keys }, 'attester').length),
  }
  const starter = { $schema: schemaFrom(out), ...createStarter(presets, roles, nodes) }
  const text = `${JSON.stringify(starter, null, 2)}\n`
  for (const { name, notes } of presets) for (const note of notes) output.hint(`${name}: ${note}`)
  if (out === undefined) {
    output.out(text.trimEnd())
    return
  }
  writeNew(out, text)
  output.hint(`Wrote ${out}. To see what has to be filled in, run service check-config ${out}`)
}

const SCHEMA = fileURLToPath(new URL('../../../../docs/config.schema.json', import.meta.url))

/** The relative path from the file to its schema, so that editors find it. */
function schemaFrom(file = 'geoswap.json'): string {
  const path = relative(dirname(resolve(file)), SCHEMA).replaceAll('\\', '/')
  return path.startsWith('.') ? path : `./${path}`
}

function parse(args: string[]): Asked {
  const { values } = parseFlags({
    args,
    options: {
      chains: { type: 'string' },
      treasury: { type: 'string' },
      keystore: { type: 'string', multiple: true },
      node: { type: 'string', multiple: true },
      'attester-node': { type: 'string', multiple: true },
      threshold: { type: 'string' },
      out: { type: 'string' },
    },
  })
  const chains = values.chains?.split(',').filter((name) => name !== '') ?? []
  if (chains.length === 0) throw new UsageError(`Chains missing: init --chains ${listPresets().slice(0, 2)}`)
  const { treasury, keystore: keystores = [], node: nodes = [], threshold, out } = values
  return { chains, treasury, keystores, nodes, attesterNodes: values['attester-node'] ?? [], threshold, out }
}

/** The URLs of each chain. */
function nodesOf(chains: readonly string[], given: readonly string[]): Map<string, string[]> {
  const nodes = new Map<string, string[]>()
  for (const text of given) {
    const [, chain = '', url = ''] = /^([^=]+)=(.+)$/.exec(text) ?? []
    if (!chains.includes(chain)) throw new UsageError(`${text} is not CHAIN=URL of one of these chains.`)
    nodes.set(chain, [...(nodes.get(chain) ?? []), url])
  }
  return nodes
}

function getPreset(name: string): Preset {
  const preset = readPreset(name)
  if (!preset) throw new UsageError(`Unknown preset ${name}. Presets: ${listPresets().join(', ')}.`)
  return preset
}

function refuseMixedNetworks(presets: readonly Preset[]): void {
  const [test, real] = [presets.filter(({ testnet }) => testnet), presets.filter(({ testnet }) => !testnet)]
  if (test.length === 0 || real.length === 0) return
  const names = (of: readonly Preset[]) => of.map(({ name }) => name).join(', ')
  throw new UsageError(
    `${names(test)} and ${names(real)} belong in two files: coins of test networks have no value.`,
  )
}

function thresholdFrom(text: string, attesters: number): number {
  const threshold = Number(text)
  if (Number.isInteger(threshold) && threshold >= 1 && threshold <= attesters) return threshold
  throw new UsageError(`--threshold must be in 1..${attesters}, the number of attesters in the keystores.`)
}

/** Never overwrites an existing configuration. */
function writeNew(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx' })
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${error instanceof Error ? error.message : error}`)
  }
}
