import type { IncomingHttpHeaders } from 'node:http'
import type { Pool } from 'pg'
import type { Registry } from 'prom-client'
import { every } from '../async/timing.ts'
import { familyOfAddress } from '../chains/families.ts'
import { createPostJson } from '../chains/nodes/post-json.ts'
import type { Config, NetworkConfig } from '../config.ts'
import { addScreeningMetrics } from '../observe/screening-metrics.ts'
import { createFlagSource, createHttpSource } from '../screen/asked.ts'
import { createScreening, type Screening } from '../screen/denials.ts'
import { createListSource, type ListFile } from '../screen/list.ts'
import { type Asked, createScreen, remember, type Source } from '../screen/screening.ts'
import { findOverrides, insertDenial, type Override } from '../store/screening.ts'
import { toRegion } from '../swap/regions.ts'
import type { Chains } from './chains.ts'

type Parts = {
  pool: Pool
  chains: Chains
  /** Absent in a command, which counts nothing. */
  registry?: Registry
  /** Of this process in requests to nodes and services. */
  caller: string
  onFault(error: unknown, source: string): void
}

type ScreeningConfig = NonNullable<NetworkConfig['screening']>
type SourceConfig = ScreeningConfig['sources'][number]
type ListConfig = Extract<SourceConfig, { kind: 'list' }>

export type OpenScreening = Screening & {
  /** Reads lists and overrides; throws without a list. */
  start(): Promise<void>
  /** For the listener of the process. */
  channels: Record<string, () => void>
  stop(): void
}

const NO_METRICS = { countDecision() {}, countAnswer() {}, countFailure() {} }

const LOOK_MS = 1_000
const DEFAULT_TIMEOUT_MS = 5_000
// A decision has a few words.
const MAX_REPLY_BYTES = 16_384

/** Equal for two spellings of an address of any family, and for addresses that are of none. */
export const addressKeyOf = (address: string) => familyOfAddress(address)?.addresses.keyOf(address) ?? address

export const toListFile = ({ file, publicKey, signatureFile }: ListConfig): ListFile => ({
  file,
  publicKey,
  signatureFile,
  keyOf: addressKeyOf,
})

/** Undefined if no region is refused anything. The header is trusted: the operator's proxy writes it. */
export function createRegionReader({ screening }: Pick<NetworkConfig, 'screening'>) {
  const { header } = screening?.regions ?? {}
  return header === undefined ? undefined : (headers: IncomingHttpHeaders) => toRegion(headers[header])
}

/** Undefined if everybody is served. */
export function openScreening(
  { network, screeningToken }: Pick<Config, 'network' | 'screeningToken'>,
  parts: Parts,
): OpenScreening | undefined {
  const { screening } = network
  if (!screening) return undefined
  const { pool, onFault, registry } = parts
  const lists = screening.sources.filter((source) => source.kind === 'list').map(createList)
  const metrics = registry ? addScreeningMetrics(registry, lists) : NO_METRICS
  const memory = { lifeMs: screening.cacheSeconds * 1_000, onFailure: metrics.countFailure }
  const sources = screening.sources.map((source): Source => {
    const list = lists.find(({ name }) => name === source.name)
    return list ?? remember(toAsked(source, { ...parts, token: screeningToken?.reveal() }), memory)
  })
  const overrides = followOverrides(pool)
  const screen = createScreen({
    sources,
    overrideOf: overrides.of,
    budgetMs: screening.budgetMs,
    onOutcome: metrics.countAnswer,
  })
  const decided = createScreening(
    {
      screen,
      isStrict: sources.some(({ onUnknown }) => onUnknown === 'deny'),
      insert: (denied) => insertDenial(pool, denied),
    },
    { onDecided: metrics.countDecision, onFault: (error) => onFault(error, 'screening') },
  )
  const refreshOverrides = () => overrides.refresh().catch((error: unknown) => onFault(error, 'overrides'))
  const readLists = async (): Promise<void> => {
    for (const list of lists)
      await list.refresh().catch((error: unknown) => {
        metrics.countFailure(list.name)
        onFault(error, 'screening')
      })
  }
  const look = () => readLists().then(refreshOverrides)
  let loop: { stop(): void } | undefined
  return {
    ...decided,
    channels: { screening_overrides: () => void refreshOverrides() },
    async start() {
      await readLists() // One that cannot be read knows nobody: claims and refunds go on.
      await overrides.refresh()
      loop = every(LOOK_MS, look)
    },
    stop: () => loop?.stop(),
  }
}

function createList(config: ListConfig) {
  const { name, onUnknown = 'deny', maxAgeHours } = config
  const maxAgeMs = maxAgeHours === undefined ? undefined : maxAgeHours * 3_600_000
  return createListSource({ ...toListFile(config), name, onUnknown, maxAgeMs })
}

type Asking = Pick<Parts, 'chains' | 'caller'> & { token: string | undefined }

/** A source that is asked, as the configuration has it. */
export function toAsked(source: SourceConfig, { chains, caller, token }: Asking): Asked {
  const { name, onUnknown = 'deny' } = source
  if (source.kind === 'list') throw new Error(`The list ${name} was not opened`)
  if (source.kind === 'http') {
    const headers = token === undefined ? undefined : { authorization: `Bearer ${token}` }
    const { url, timeoutMs = DEFAULT_TIMEOUT_MS } = source
    return createHttpSource({
      name,
      onUnknown,
      post: createPostJson(url, { timeoutMs, caller, headers, maxReplyBytes: MAX_REPLY_BYTES }),
    })
  }
  const { chainId, address: contract } = source
  const { family, readFlag } = chains.of(chainId)
  if (!readFlag) throw new Error(`Chain ${chainId} has no contracts to ask`)
  const isOracle = source.kind === 'oracle'
  return createFlagSource({
    name,
    onUnknown,
    chainId,
    contract,
    readFlag,
    flag: isOracle ? 'isSanctioned' : source.flag,
    covers: (id) => (isOracle ? chains.of(id).family.name === family.name : id === chainId),
  })
}

/** Keeps the decisions of the operator in memory. */
function followOverrides(pool: Pool) {
  let known = new Map<string, Override>()
  let begun = 0
  let shown = 0
  return {
    of(address: string) {
      const found = known.get(addressKeyOf(address))
      if (!found) return undefined
      if (found.verdict === 'allow') return { kind: 'allow' } as const
      const { reason, id } = found
      return { kind: 'deny', reason, list: 'override', version: id } as const
    },
    /** Discards the result of a read if a newer one has finished. */
    async refresh() {
      begun += 1
      const turn = begun
      const found = await findOverrides(pool)
      if (turn < shown) return
      shown = turn
      known = new Map(found.map((each) => [addressKeyOf(each.address), each]))
    },
  }
}
