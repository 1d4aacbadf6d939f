import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import solc from 'solc/package.json' with { type: 'json' }
import type { Abi, Hex } from 'viem'
import settings from '../compiler.json' with { type: 'json' }

/** `immutables` are the byte offsets in the runtime code that the constructor fills in. */
export type Contract = {
  abi: Abi
  bytecode: Hex
  runtimeBytecode: Hex
  immutables: readonly number[]
  /** The storage in the order of its slots, each with the members of its structs. */
  storage: readonly Stored[]
}
export type Stored = { slot: number; offset: number; type: string; label: string; members: readonly Stored[] }
export type Contracts = Record<string, Contract>

type SolcError = { severity: string; formattedMessage: string }
type SolcContract = {
  abi: Abi
  storageLayout: SolcLayout
  evm: {
    bytecode: { object: string }
    deployedBytecode: { object: string; immutableReferences?: Record<string, { start: number }[]> }
  }
}
type SolcStored = { slot: string; offset: number; type: string; label: string }
type SolcType = { label: string; members?: SolcStored[]; base?: string; value?: string }
type SolcLayout = { storage?: SolcStored[]; types?: Record<string, SolcType> | null }
type SolcOutput = { errors?: SolcError[]; contracts?: Record<string, Record<string, SolcContract>> }

const root = fileURLToPath(new URL('..', import.meta.url))
const require = createRequire(import.meta.url)
/** Changes with the type of a cached contract. */
const CACHED_AS = 'with the members of stored structs'
const outputs = [
  'abi',
  'storageLayout',
  'evm.bytecode.object',
  'evm.deployedBytecode.object',
  'evm.deployedBytecode.immutableReferences',
]

/** Overrides of the compiler settings and of sources by their names; `isFresh` ignores the cache. */
type Options = { isFresh?: boolean; viaIR?: boolean; optimizer?: object; changed?: Record<string, string> }

/**
 * Compiles every contract in the folders of this package, with its imports. The result is cached on disk by the
 * content of its sources. Folders that are compiled separately cannot influence each other's bytecode.
 */
function compile(folders: readonly string[], { isFresh = false, ...options }: Options = {}): Contracts {
  const input = toFolderInput(folders, options)
  const cached = join(root, 'cache', `${hashInput(input)}.json`)
  if (existsSync(cached) && !isFresh) return JSON.parse(readFileSync(cached, 'utf8'))

  const contracts = compileInput(input)
  const unfinished = `${cached}.${process.pid}`
  mkdirSync(join(root, 'cache'), { recursive: true })
  writeFileSync(unfinished, JSON.stringify(contracts))
  renameSync(unfinished, cached)
  return contracts
}

const toFolderInput = (folders: readonly string[], options: Options) =>
  toInput(
    folders.flatMap((folder) => listSolidity(folder)),
    { '*': { '*': outputs } },
    options,
  )

/** Of all that decides about the output: sources, settings and compiler. */
const hashInput = (input: string) =>
  createHash('sha256').update(CACHED_AS).update(solc.version).update(input).digest('hex')

function toInput(entries: readonly string[], outputSelection: object, options: Options): string {
  const { changed = {}, ...overrides } = options
  const sources = readSources(entries)
  for (const [name, content] of Object.entries(changed)) sources[name] = { content }
  return JSON.stringify({
    language: 'Solidity',
    sources,
    settings: { ...settings, ...overrides, outputSelection },
  })
}

const compileInput = (input: string) => toContracts(JSON.parse(require('solc').compile(input)))

const PRODUCT = ['src', 'src/interfaces', 'src/libraries', 'src/local']

/** The deployed contracts, and the token and feed of local networks. */
export const compileProduct = (options?: Options): Contracts => compile(PRODUCT, options)

export const hashProduct = (): string => hashInput(toFolderInput(PRODUCT, {}))

/** The deployed contracts, with changed sources; without the IR pipeline, which takes three times as long. */
export function compileChanged(changed: Record<string, string>): Contracts {
  const entries = ['GeoAccount', 'GeoEscrow', 'GeoVault', 'UniswapV3Adapter'].map((name) => `src/${name}.sol`)
  return compileInput(toInput(entries, { '*': { '*': outputs } }, { viaIR: false, changed }))
}

/** The hostile tokens, wallets and venues of the tests: not optimised, since their gas does not matter. */
export function compileTestContracts(): Contracts {
  return compile(['src/test'], { viaIR: false, optimizer: { enabled: false } })
}

/** The invariants and what calls the contracts for them: they import interfaces only. */
export const compileFuzz = (): Contracts => compile(['test/fuzz'], { viaIR: false })

function listSolidity(folder: string): string[] {
  const names = readdirSync(join(root, folder)).filter((name) => name.endsWith('.sol'))
  return names.sort().map((name) => join(folder, name))
}

/** All sources by the compiler's name for them: a path in this package, or below node_modules. */
function readSources(entries: readonly string[]): Record<string, { content: string }> {
  const sources: Record<string, { content: string }> = {}
  const visit = (name: string): void => {
    if (sources[name]) return
    const content = readFileSync(
      /^(src|test)\//.test(name) ? join(root, name) : require.resolve(name),
      'utf8',
    )
    sources[name] = { content }
    for (const [, path] of content.matchAll(/^\s*import\s[^;]*?["']([^"']+)["']\s*;/gm)) {
      if (path) visit(path.startsWith('.') ? join(name, '..', path) : path)
    }
  }
  entries.forEach(visit)
  return Object.fromEntries(Object.entries(sources).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function toContracts(output: SolcOutput): Contracts {
  const errors = (output.errors ?? []).filter((error) => error.severity === 'error')
  if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join('\n'))
  const contracts: Contracts = {}
  for (const file of Object.values(output.contracts ?? {})) {
    for (const [name, { abi, storageLayout, evm }] of Object.entries(file)) {
      const bytecode: Hex = `0x${evm.bytecode.object}`
      const runtimeBytecode: Hex = `0x${evm.deployedBytecode.object}`
      const places = Object.values(evm.deployedBytecode.immutableReferences ?? {}).flat()
      const immutables = places.map(({ start }) => start).sort((a, b) => a - b)
      const storage = toStored(storageLayout.storage ?? [], storageLayout.types ?? {})
      contracts[name] = { abi, bytecode, runtimeBytecode, immutables, storage }
    }
  }
  return contracts
}

/** Structs are listed where they are stored, also as the values of a mapping. */
function toStored(stored: readonly SolcStored[], types: Record<string, SolcType>): Stored[] {
  return stored.map(({ slot, offset, type, label }) => {
    let found = types[type]
    while (found?.value !== undefined) found = types[found.value]
    const members = toStored(found?.members ?? [], types)
    return { slot: Number(slot), offset, type: types[type]?.label ?? type, label, members }
  })
}
