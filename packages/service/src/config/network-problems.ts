import { type ChainConfig, defaultDeadlines, defaultDiscount, type NetworkConfig } from '../config.ts'
import { isRising, toTiers } from '../model/discount.ts'
import { findPriceProblems } from '../model/price-setup.ts'
import { findAddressProblems } from './address-problems.ts'
import { findFloatProblems } from './float-problems.ts'
import { findRepeated } from './repeated.ts'
import type { Problem } from './shape.ts'
import { findVenueProblems } from './venue-problems.ts'

/** What is wrong with a configuration whose parts all have their shape: parts that do not fit each other. */
export function findNetworkProblems(network: NetworkConfig): Problem[] {
  return [
    ...findChainProblems(network),
    ...findAddressProblems(network),
    ...findPriceProblems(network),
    ...findVenueProblems(network),
    ...findDiscountProblems(network),
    ...findDeadlineProblems(network),
    ...findFloatProblems(network),
  ]
}

function findChainProblems({ chains, assets }: NetworkConfig): Problem[] {
  const known = new Set(assets.map(({ name }) => name))
  return [
    ...findRepeated(
      chains,
      ({ chainId }) => chainId,
      (index) => `/chains/${index}/chainId`,
    ),
    ...findRepeated(
      chains,
      ({ name }) => name,
      (index) => `/chains/${index}/name`,
    ),
    ...chains.flatMap((chain, index) => {
      const path = `/chains/${index}`
      const problems = [
        ...findTokenProblems(chain, known),
        ...findRateProblems(chain),
        ...findNodeProblems(chain),
      ]
      return problems.map((problem) => ({ ...problem, path: `${path}${problem.path}` }))
    }),
  ]
}

function findTokenProblems({ native, tokens }: ChainConfig, known: ReadonlySet<string>): Problem[] {
  const unknown = (asset: string, path: string) =>
    known.has(asset) ? [] : [{ path, message: `${asset} is not among the assets` }]
  const symbols = [native.symbol, ...tokens.map(({ symbol }) => symbol)]
  return [
    ...unknown(native.asset, '/native/asset'),
    ...tokens.flatMap(({ asset }, index) => unknown(asset, `/tokens/${index}/asset`)),
    ...findRepeated(
      symbols,
      (symbol) => symbol,
      (index) => `/tokens/${index - 1}/symbol`,
    ),
  ]
}

/** Blocks and depths that contradict each other. */
function findRateProblems(chain: ChainConfig): Problem[] {
  const { accept, settle, hard } = chain.finality
  const problems: Problem[] = []
  if (settle < accept) problems.push({ path: '/finality/settle', message: 'must not be below accept' })
  if (hard < settle) problems.push({ path: '/finality/hard', message: 'must not be below settle' })
  if (chain.maxHeadAgeMs !== undefined && chain.maxHeadAgeMs < 2 * chain.blockMs) {
    problems.push({
      path: '/maxHeadAgeMs',
      message: 'must be at least twice blockMs, or the chain is down between blocks',
    })
  }
  if (chain.family === 'solana' && chain.priorityPrice) {
    const { floor, cap } = chain.priorityPrice
    if (BigInt(cap) < BigInt(floor))
      problems.push({ path: '/priorityPrice/cap', message: 'must not be below floor' })
  }
  return problems
}

/** The same node twice would outvote another one. */
function findNodeProblems({ rpcUrls, attesterRpcUrls }: ChainConfig): Problem[] {
  return [
    ...findRepeated(
      rpcUrls,
      (url) => url,
      (index) => `/rpcUrls/${index}`,
    ),
    ...findRepeated(
      attesterRpcUrls,
      (url) => url,
      (index) => `/attesterRpcUrls/${index}`,
    ),
  ]
}

/** A discount that nobody could earn, or that would shrink as a holding grows, is a mistake. */
function findDiscountProblems({ discount, chains }: NetworkConfig): Problem[] {
  if (!discount) return []
  const { asset, tiers = defaultDiscount.tiers } = discount
  const isServed = chains.some(({ native, tokens }) =>
    [native, ...tokens].some((token) => token.asset === asset),
  )
  return [
    ...(isServed ? [] : [{ path: '/discount/asset', message: `no chain has a token of ${asset}` }]),
    ...(isRising(toTiers(tiers))
      ? []
      : [{ path: '/discount/tiers', message: 'each must ask for more and give more than the last' }]),
    ...findRepeated(
      tiers,
      ({ name }) => name,
      (index) => `/discount/tiers/${index}/name`,
    ),
  ]
}

/** Time that is given must be time in which the thing can happen. */
function findDeadlineProblems({ deadlines, chains, leaseMs = 6_000 }: NetworkConfig): Problem[] {
  const { fillSeconds, cutOffSeconds, ...waits } = { ...defaultDeadlines, ...deadlines }
  const slowest = Math.max(...chains.map(({ blockMs }) => blockMs))
  const problems: Problem[] = []
  const add = (name: string, message: string) => problems.push({ path: `/deadlines/${name}`, message })
  if (2 * cutOffSeconds > fillSeconds) {
    add(
      'cutOffSeconds',
      `must be at most half of fillSeconds (${fillSeconds}): little time is left to deliver`,
    )
  }
  for (const name of ['lockInclusionSeconds', 'claimInclusionSeconds'] as const) {
    if (waits[name] * 1_000 < 3 * slowest) {
      add(name, `must be at least three blocks of the slowest chain (${slowest} ms each)`)
    }
  }
  if (leaseMs > waits.lockInclusionSeconds * 1_000) {
    problems.push({
      path: '/leaseMs',
      message: 'must be below lockInclusionSeconds, or one dead worker fails its swaps',
    })
  }
  return problems
}
