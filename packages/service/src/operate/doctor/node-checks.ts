import type { ConnectedChain } from '../../chains/families.ts'
import { type Findings, reasonOf } from '../../chains/findings.ts'
import type { ChainConfig } from '../../config.ts'
import { finalityOf, isTooSlow } from '../../swap/finality.ts'
import { operateOf } from '../families.ts'
import { listPresets, type Preset, readPreset } from '../presets.ts'

/** Asks each node for its software: a node that does not answer is named with the reason. */
export async function checkNodeVersions(
  chains: readonly ChainConfig[],
): Promise<Findings & { facts: string[] }> {
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
export async function checkFinality({ config, chain }: ConnectedChain): Promise<Findings> {
  const { head, hard } = await chain.readHeads()
  const preset = findPreset(config.chainId)
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

function findPreset(chainId: number): Preset | undefined {
  return listPresets()
    .flatMap((name) => readPreset(name) ?? [])
    .find((preset) => preset.chainId === chainId)
}
