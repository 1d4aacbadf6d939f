import type { ConnectedChain } from '../../chains/families.ts'
import { type Findings, joinFindings, reasonOf } from '../../chains/findings.ts'
import { type Env, type Output, parseFlags, toTable } from '../../command.ts'
import { type Chains, connectForCommand } from '../../compose/chains.ts'
import { verifyPyth } from '../../compose/prices.ts'
import type { ChainConfig, NetworkConfig } from '../../config.ts'
import { type FeedState, USUAL_SOURCES } from '../../market/prices/book.ts'
import type { Reference, Unavailable } from '../../market/prices/reference.ts'
import { finalityOf, isTooSlow } from '../../swap/finality.ts'
import { checkChains, checkEach, checkGas, checkScreening, checkTreasury } from '../checks.ts'
import { operateOf } from '../families.ts'
import { readPrices, readPythKey } from '../inventory/session.ts'
import { findPresetOf } from '../presets.ts'
import { fillInAllUrls, findNetworkFile, readUnfilled } from '../served.ts'
import { checkDatabase, checkRoles } from './database-check.ts'

export const DOCTOR_HELP = `doctor [--config FILE] [--json]
      Checks everything, before a start and while it runs: every node by name, versions, clocks, contracts, calls of
      the treasury, pending attesters, caps, gas, prices, finality, screening, the database with its roles,
      settings and keys. Sends nothing and prints no secret. Exit code 1: a problem was found; warnings alone are 0.`

type Level = 'problem' | 'warning' | 'ok'
type Finding = { area: string; level: Level; text: string }
type Report = Findings & { facts?: readonly string[] }

export async function doctor(args: string[], env: Env, output: Output): Promise<number> {
  const options = { config: { type: 'string' }, json: { type: 'boolean', default: false } } as const
  const { config: chosen, json } = parseFlags({ args, options }).values
  const file = chosen ?? findNetworkFile(env)
  const written = readUnfilled(file)
  const network = fillInAllUrls(written, env)
  const findings = await examine({ network, written }, { ...env, GEOSWAP_CONFIG: file })
  const problems = findings.filter(({ level }) => level === 'problem').length
  output.out(json ? JSON.stringify({ ok: problems === 0, findings }, null, 2) : describe(findings))
  output.hint(
    problems === 0 ? 'No problem found.' : `${problems} ${problems === 1 ? 'problem' : 'problems'}.`,
  )
  return problems === 0 ? 0 : 1
}

type Examined = { network: NetworkConfig; written: NetworkConfig }

async function examine({ network, written }: Examined, env: Env): Promise<Finding[]> {
  const [ours, attesters] = [
    connectForCommand(network),
    connectForCommand(network, { nodes: 'attesterRpcUrls' }),
  ]
  const [nodes, both, treasury, gas, finality, prices, screening, database] = await Promise.all([
    checkNodeVersions(network.chains),
    checkBoth(ours, attesters),
    checkTreasury(network, ours),
    checkGas(network, ours),
    checkEach(ours, checkFinality),
    checkPrices(env, network, ours),
    checkScreening(env, network, ours),
    checkDatabase(env, network.x402?.account),
  ])
  const named = [...findNodeWarnings(written.chains), ...nodes.warnings]
  const chains = { ...both, warnings: both.warnings.filter((text) => !named.includes(text)) }
  // Opening keys takes the processor for seconds, and other checks would run into their timeouts.
  const processes = await checkRoles(env)
  const screened = network.screening ? { screening } : {}
  const areas = { chains, treasury, gas, finality, prices, ...screened, database, processes }
  const node = { area: 'versions', level: 'ok', text: `Node.js ${process.versions.node}` } as const
  return [
    node,
    ...toFindings('nodes', { ...nodes, warnings: named }),
    ...Object.entries(areas).flatMap(([area, report]) => toFindings(area, report)),
  ]
}

async function checkBoth(ours: Chains, attesters: Chains): Promise<Findings> {
  const { problems, warnings } = joinFindings(await Promise.all([checkChains(ours), checkChains(attesters)]))
  return { problems: [...new Set(problems)], warnings: [...new Set(warnings)] }
}

function toFindings(area: string, { problems, warnings, facts = [] }: Report): Finding[] {
  const of = (level: Level, texts: readonly string[]) => texts.map((text) => ({ area, level, text }))
  const found = [...of('problem', problems), ...of('warning', warnings), ...of('ok', facts)]
  return found.length > 0 ? found : of('ok', ['as configured'])
}

function describe(findings: readonly Finding[]): string {
  return toTable(findings.map(({ level, area, text }) => [level, area, text]))
}

type AssetPrices = { asset: string; sources: number; reference: Reference; feeds: readonly FeedState[] }

/** Verifies the names of feeds, and that each asset has a price now. */
async function checkPrices(env: Env, network: NetworkConfig, chains: Chains): Promise<Findings> {
  const [names, prices] = await Promise.all([
    verifyPyth({ network, pythApiKey: readPythKey(env) }),
    readAssets(env, network, chains).then(judgePrices),
  ])
  return joinFindings([names, prices])
}

/** Judged as soon as they are read: after ten seconds in memory every source counts as silent. */
export async function readAssets(env: Env, network: NetworkConfig, chains: Chains): Promise<AssetPrices[]> {
  const book = await readPrices(env, { network, chains })
  return network.assets.map(({ name: asset, sources }) => ({
    asset,
    sources: sources.length,
    reference: book.referenceOf(asset),
    feeds: book.feedsOf(asset),
  }))
}

const PROBLEMS: Record<NonNullable<FeedState['problem']>, string> = {
  silent: 'does not answer',
  chainStopped: 'is on a chain that stands still',
  noAnswer: 'has no price',
  stale: 'has an outdated price',
  notPositive: 'has a price that is not above zero',
  ahead: 'has a price of a future time',
  renamed: 'is of another asset now',
  uncertain: 'has a price with too wide a confidence interval',
}

const REASONS: Record<Unavailable, string> = {
  tooFew: 'too few of its sources have a usable one',
  disagree: 'its sources disagree',
}

export function judgePrices(prices: readonly AssetPrices[]): Findings {
  return {
    problems: prices.flatMap(({ asset, reference: { unavailable } }) =>
      unavailable ? [`${asset} has no price: ${REASONS[unavailable]}`] : [],
    ),
    warnings: prices.flatMap(({ asset, feeds, sources }) => [
      ...feeds.flatMap(({ feed, problem }) =>
        problem ? [`${asset}: the source ${feed} ${PROBLEMS[problem]}`] : [],
      ),
      ...(sources < USUAL_SOURCES ? [tooFew(asset, sources)] : []),
    ]),
  }
}

const tooFew = (asset: string, sources: number) =>
  `${asset} has ${sources} price source${sources === 1 ? '' : 's'}: with fewer than ${USUAL_SOURCES} a wrong one ` +
  'cannot be told, so swaps of it cost thinSpreadBps more'

/** Asks each node for its software: a node that does not answer is named with the reason. */
async function checkNodeVersions(chains: readonly ChainConfig[]): Promise<Findings & { facts: string[] }> {
  const warnings: string[] = []
  const facts: string[] = []
  const asked = chains.flatMap((chain) => {
    const urls = [...new Set([...chain.rpcUrls, ...chain.attesterRpcUrls])]
    return operateOf(chain)
      .readVersions(urls)
      .map(async (version, index) => {
        const { host } = new URL(urls[index] ?? '')
        await version.then(
          (text) => facts.push(`${chain.name}: ${host} runs ${text}`),
          (error: unknown) =>
            warnings.push(`${chain.name}: the node at ${host} does not answer: ${reasonOf(error)}`),
        )
      })
  })
  await Promise.all(asked)
  return { problems: [], warnings: warnings.sort(), facts: facts.sort() }
}

type Nodes = Pick<ChainConfig, 'name' | 'rpcUrls' | 'attesterRpcUrls'>

// A name is shorter, or has no digit: providers' keys are long and random.
const KEY = /^(?=.*\d)[A-Za-z0-9_-]{20,}$/

/** Weak choices of nodes, from the URLs as written in the file. Prints hosts only: a URL may contain a key. */
export function findNodeWarnings(chains: readonly Nodes[]): string[] {
  return chains.flatMap(({ name, rpcUrls, attesterRpcUrls }) => {
    const warn = (text: string) => `${name}: ${text}`
    const shared = [
      ...new Set(attesterRpcUrls.map(hostOf).filter((host) => rpcUrls.map(hostOf).includes(host))),
    ]
    return [
      ...[...new Set([...rpcUrls, ...attesterRpcUrls])].flatMap(findExposed).map(warn),
      ...shared.map((host) => warn(`the attester asks ${host}, as the worker does: give it other nodes`)),
      ...(rpcUrls.length > 1 ? [] : [warn('API and worker have a single node, which decides alone')]),
      ...(attesterRpcUrls.length > 1 ? [] : [warn('the attester has a single node, which decides alone')]),
    ]
  })
}

function findExposed(text: string): string[] {
  if (!URL.canParse(text)) return []
  const { host, username, password, pathname, searchParams } = new URL(text)
  const instead = 'write it as a dollar sign and a name in braces, and set that variable'
  const parts = [...pathname.split('/'), ...searchParams.values()]
  return [
    ...(username || password ? [`the URL of ${host} contains a login: ${instead}`] : []),
    ...(parts.some((part) => KEY.test(part)) ? [`the URL of ${host} contains a key: ${instead}`] : []),
  ]
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}

type Times = { name: string; configured: number; measured: number; preset: number | undefined }

/** Compares the time to finality of this moment with the configuration, and the configuration with the preset. */
async function checkFinality({ config, chain }: ConnectedChain): Promise<Findings> {
  const { head, hard } = await chain.readHeads()
  const preset = findPresetOf(config.chainId)
  return judgeFinality({
    name: config.name,
    configured: config.finality.hardSeconds,
    measured: head.seconds - hard.seconds,
    preset: preset && finalityOf(preset).hardSeconds,
  })
}

export function judgeFinality({ name, configured, measured, preset }: Times): Findings {
  const slow = `${name}: finality takes ${measured} s now, configured are ${configured} s (hardSeconds)`
  const below = `${name}: hardSeconds is ${configured}, the preset has ${preset}: inputs may be refundable too early`
  const isStalled = isTooSlow(configured, measured)
  return {
    problems: isStalled ? [`${slow}: the chain is not served`] : [],
    warnings: [
      ...(!isStalled && measured > configured ? [slow] : []),
      ...(preset !== undefined && configured < preset ? [below] : []),
    ],
  }
}
