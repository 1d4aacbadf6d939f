import { writeFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getAddress, isAddress } from 'viem'
import { type Output, parseFlags, UsageError } from '../command.ts'
import { listKeys } from '../config/keystore.ts'
import { listPresets, type Preset, readPreset } from './presets.ts'
import { createStarter, type Roles } from './starter.ts'

export const INIT_HELP = `init --chains NAME,NAME [--treasury ADDRESS] [--keystore DIR]... [--node CHAIN=URL]...
      [--attester-node CHAIN=URL]... [--threshold N] [--out FILE]
      Writes a configuration of public chains with tokens, feeds, finality and caps. Roles come from the keystores;
      nodes and roles that are not given have to be filled in. With treasury and attesters it includes the addresses
      that deploy will use. Of several attesters --threshold have to sign, by default a majority.
      Chains: see packages/service/presets.`

export async function init(args: string[], output: Output): Promise<number> {
  const { chains, treasury, keystore, out, nodes, threshold } = parse(args)
  if (treasury !== undefined && !isAddress(treasury)) throw new UsageError(`${treasury} is not an address.`)
  const presets = chains.map(getPreset)
  refuseMixedNetworks(presets)
  const known = rolesIn(keystore)
  const roles = {
    ...known,
    treasury: treasury && getAddress(treasury),
    threshold: threshold === undefined ? undefined : thresholdFrom(threshold, known.attesters.length),
  }
  const starter = { $schema: schemaFrom(out), ...createStarter(presets, roles, nodes) }
  const text = `${JSON.stringify(starter, null, 2)}\n`
  for (const { name, notes } of presets) for (const note of notes) output.hint(`${name}: ${note}`)
  if (out === undefined) {
    output.out(text.trimEnd())
    return 0
  }
  writeNew(out, text)
  output.hint(`Wrote ${out}. To see what has to be filled in, run service check-config ${out}`)
  return 0
}

const SCHEMA = fileURLToPath(new URL('../../../../docs/config.schema.json', import.meta.url))

/** The relative path from the file to its schema, so that editors find it. */
function schemaFrom(file = 'geoswap.json'): string {
  const path = relative(dirname(resolve(file)), SCHEMA).replaceAll('\\', '/')
  return path.startsWith('.') ? path : `./${path}`
}

function parse(args: string[]) {
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
  const nodes = {
    rpcUrls: nodesOf(chains, values.node),
    attesterRpcUrls: nodesOf(chains, values['attester-node']),
  }
  const { treasury, keystore, out } = values
  return { treasury, keystore, out, chains, nodes, threshold: values.threshold }
}

/** The URLs of each chain. */
function nodesOf(chains: readonly string[], given: readonly string[] = []): Map<string, string[]> {
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

function rolesIn(keystores: readonly string[] = []): Roles {
  const keys = keystores.flatMap(listKeys)
  const allOf = (role: string) => keys.filter((key) => key.role === role).map(({ address }) => address)
  const oneOf = (role: string) => allOf(role)[0]
  const solana = {
    program: oneOf('solana-program'),
    vault: oneOf('inventory'),
    attester: oneOf('solana-attester'),
    input: oneOf('fee-input'),
    delivery: oneOf('fee-delivery'),
  }
  const known = Object.fromEntries(Object.entries(solana).filter(([, address]) => address !== undefined))
  return {
    relayers: allOf('relayer'),
    authorizationRelayers: allOf('authorization-relayer'),
    deliverers: allOf('deliverer'),
    attesters: allOf('attester'),
    solana: known,
  }
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
