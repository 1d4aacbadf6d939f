import { parseUnits } from 'viem'
import { families, familyOf } from '../chains/families.ts'
import { type ChainFile, defaultDiscount, type GasFloatConfig, type NetworkFile } from '../config.ts'
import { isRising, toTiers } from '../swap/discount.ts'
import { kindOf, type VenueConfig } from '../venues/registry.ts'
import { addressChecks } from './address-problems.ts'
import { findDeadlineProblems } from './deadline-problems.ts'
import { type Check, findRepeated, indicesOf, type Problem } from './shape.ts'
import { findAttesterProblems, findSignerProblems, findUnsafe } from './signer-problems.ts'
import {
  findDiscoveryProblems,
  findNodeProblems,
  findOriginProblems,
  findUrlProblems,
} from './url-problems.ts'

const SIGNING = [
  '/relayers',
  '/authorizationRelayers',
  '/deliverers',
  '/attesters',
  '/nextAttesters',
  '/gasFloat',
]

const KEYS_OF_CHAINS = families.flatMap(({ config }) => config.roles.fields)

/** Cross-checks of a configuration. Parts are only read when their check runs, since they may be malformed. */
export function checksOf(network: NetworkFile): Check[] {
  const everyChain = (...fields: string[]) => fields.map((field) => `/chains/*/${field}`)
  return [
    { reads: everyChain('chainId', 'name', 'testnet'), find: () => findChainProblems(network) },
    ...indicesOf(network?.chains).flatMap((index) => checksOfChain(network, index)),
    ...addressChecks(network),
    { reads: ['/attesters', '/nextAttesters'], find: () => findAttesterProblems(network) },
    { reads: ['/corsOrigins'], find: () => findOriginProblems(network) },
    { reads: ['/discovery'], find: () => findDiscoveryProblems(network) },
    { reads: ['/pyth', '/web', ...everyChain('chainId')], find: () => findUrlProblems(network) },
    {
      reads: ['/assets', '/pyth', ...everyChain('chainId', 'family')],
      find: () => findPriceProblems(network),
    },
    {
      reads: ['/venues', '/assets/*/name', ...everyChain('chainId', 'family', 'name', 'tokens')],
      find: () => findVenueProblems(network),
    },
    { reads: ['/discount', ...everyChain('native', 'tokens')], find: () => findDiscountProblems(network) },
    {
      reads: ['/fees', '/rebalancing', '/assets/*/name', ...everyChain('chainId')],
      find: () => findFeeProblems(network),
    },
    {
      reads: ['/deadlines', '/leaseMs', ...everyChain('family', 'blockMs', 'finality')],
      find: () => findDeadlineProblems(network),
    },
    {
      reads: ['/screening', '/assets/*/name', ...everyChain('chainId', 'family')],
      find: () => findScreeningProblems(network),
    },
    { reads: ['/gasFloat', ...everyChain('chainId', 'family')], find: () => findFloatProblems(network) },
    {
      reads: ['/remoteSigners', ...SIGNING, ...everyChain('family', ...KEYS_OF_CHAINS)],
      find: () => findSignerProblems(network),
    },
  ]
}

function findChainProblems({ chains }: NetworkFile): Problem[] {
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
    ...findMixedTestnets(chains),
  ]
}

/** A worthless test coin must not count as the same asset as a real one. */
function findMixedTestnets(chains: readonly ChainFile[]): Problem[] {
  if (chains.every(({ testnet }) => !testnet)) return []
  return chains.flatMap(({ name, testnet }, index) =>
    testnet
      ? []
      : [
          {
            path: `/chains/${index}`,
            message: `${name} is not a test network, but others in this file are`,
          },
        ],
  )
}

function checksOfChain(network: NetworkFile, index: number): Check[] {
  const at = (path: string) => `/chains/${index}${path}`
  const check = (fields: string[], find: (chain: ChainFile) => Problem[], ...reads: string[]): Check => ({
    reads: [...fields.map((field) => at(`/${field}`)), ...reads],
    find: () =>
      network.chains
        .slice(index, index + 1)
        .flatMap((chain) => find(chain).map(({ path, message }) => ({ path: at(path), message }))),
  })
  const assets = () => new Set(network.assets.map(({ name }) => name))
  return [
    check(['native', 'tokens'], (chain) => findTokenProblems(chain, assets()), '/assets/*/name'),
    check(['finality', 'blockMs', 'maxHeadAgeMs'], findRateProblems),
    check(['exposureCapUsd', 'fastCapUsd'], findCapProblems),
    check(['rpcUrls', 'attesterRpcUrls'], findNodeProblems),
    ...families.flatMap((family) =>
      family.config.checks.map(({ fields, find }) =>
        check(['family', ...fields], (chain) => (familyOf(chain) === family ? find(chain) : [])),
      ),
    ),
  ]
}

function findTokenProblems({ native, tokens }: ChainFile, known: ReadonlySet<string>): Problem[] {
  const unknown = (asset: string, path: string) =>
    known.has(asset) ? [] : [{ path, message: `${asset} is not one of the assets` }]
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

function findCapProblems({ exposureCapUsd = 0, fastCapUsd = 0 }: ChainFile): Problem[] {
  const isLess = fastCapUsd > 0 && fastCapUsd < exposureCapUsd
  return isLess ? [{ path: '/fastCapUsd', message: 'must be at least exposureCapUsd, or 0' }] : []
}

/** Contradictions between block time, head age and finality. */
function findRateProblems(chain: ChainFile): Problem[] {
  const problems = findFinalityProblems(chain)
  if (chain.maxHeadAgeMs !== undefined && chain.maxHeadAgeMs < 2 * chain.blockMs) {
    problems.push({
      path: '/maxHeadAgeMs',
      message: 'must be at least twice blockMs, or the chain counts as down between blocks',
    })
  }
  return problems
}

/** The tiers of `accept` and `fast` must rise, and no depth may exceed the final one. */
function findFinalityProblems({ finality, blockMs }: ChainFile): Problem[] {
  const { accept, fast = [], settle, hard, hardSeconds } = finality
  const problems: Problem[] = []
  const add = (path: string, message: string) => problems.push({ path: `/finality${path}`, message })
  for (const [name, tiers] of Object.entries({ accept, fast })) {
    for (const [index, { belowUsd, depth = 0 }] of tiers.entries()) {
      const before = tiers[index - 1]
      const isLast = index === tiers.length - 1
      if (isLast !== (belowUsd === undefined))
        add(
          `/${name}/${index}`,
          isLast ? 'must have no belowUsd: the last tier is for all other inputs' : 'needs belowUsd',
        )
      if (before?.belowUsd !== undefined && belowUsd !== undefined && belowUsd <= before.belowUsd)
        add(`/${name}/${index}/belowUsd`, 'must be above that of the previous tier')
      if (depth < (before?.depth ?? 0))
        add(`/${name}/${index}/depth`, 'must not be below that of the previous tier')
      if (depth > hard) add(`/${name}/${index}/depth`, `must not be above hard (${hard})`)
    }
  }
  if (settle > hard) add('/settle', `must not be above hard (${hard})`)
  if (hardSeconds !== undefined && hardSeconds * 1_000 < (hard - 1) * blockMs)
    add('/hardSeconds', `must be at least the time of hard blocks (${hard} of ${blockMs} ms)`)
  return problems
}

/** Finds discounts that no wallet can get, or that shrink as a holding grows. */
function findDiscountProblems({ discount, chains }: NetworkFile): Problem[] {
  if (!discount) return []
  const { asset, tiers = defaultDiscount.tiers } = discount
  const isServed = chains.some(({ native, tokens }) =>
    [native, ...tokens].some((token) => token.asset === asset),
  )
  return [
    ...(isServed ? [] : [{ path: '/discount/asset', message: `no chain has a token of ${asset}` }]),
    ...(isRising(toTiers(tiers))
      ? []
      : [
          {
            path: '/discount/tiers',
            message: 'each tier must require more and give more than the previous one',
          },
        ]),
    ...findRepeated(
      tiers,
      ({ name }) => name,
      (index) => `/discount/tiers/${index}/name`,
    ),
  ]
}

/** Finds fees of routes that no swap takes, and repeated accounts. */
function findFeeProblems({ fees, rebalancing, chains, assets }: NetworkFile): Problem[] {
  const { routes = [], accounts = [] } = fees ?? {}
  const isChain = (id: number | undefined) => id === undefined || chains.some(({ chainId }) => chainId === id)
  const isAsset = (asset: string | undefined) =>
    asset === undefined || assets.some(({ name }) => name === asset)
  const unknown = routes.flatMap((route, index) => [
    ...(['originChain', 'destinationChain'] as const).flatMap((field) =>
      isChain(route[field]) ? [] : [{ field, index, message: `no chain ${route[field]} is configured` }],
    ),
    ...(['inputAsset', 'outputAsset'] as const).flatMap((field) =>
      isAsset(route[field]) ? [] : [{ field, index, message: `${route[field]} is not one of the assets` }],
    ),
  ])
  const { targets = [] } = rebalancing ?? {}
  return [
    ...targets.flatMap(({ chainId, asset }, index) => [
      ...(isChain(chainId)
        ? []
        : [{ path: `/rebalancing/targets/${index}/chainId`, message: `no chain ${chainId} is configured` }]),
      ...(isAsset(asset)
        ? []
        : [{ path: `/rebalancing/targets/${index}/asset`, message: `${asset} is not one of the assets` }]),
    ]),
    ...unknown.map(({ field, index, message }) => ({ path: `/fees/routes/${index}/${field}`, message })),
    ...findRepeated(
      accounts,
      ({ account }) => account,
      (index) => `/fees/accounts/${index}/account`,
    ),
  ]
}

/** Finds sources that could not answer, and regions without effect. */
function findScreeningProblems({ screening, chains, assets }: NetworkFile): Problem[] {
  const { sources = [], regions } = screening ?? {}
  const hasContracts = (id: number) =>
    chains.some((chain) => chain.chainId === id && familyOf(chain).traits.hasContracts)
  const ofSources = sources.flatMap((source, index) => {
    const at = (field: string) => `/screening/sources/${index}/${field}`
    if (source.kind === 'http') return findUnsafe(source.url, at('url'))
    if (source.kind === 'list') {
      const isAlone = source.signatureFile !== undefined && source.publicKey === undefined
      return isAlone ? [{ path: at('signatureFile'), message: 'is not checked without publicKey' }] : []
    }
    if (hasContracts(source.chainId)) return []
    return [{ path: at('chainId'), message: `${source.chainId} is not a configured EVM chain` }]
  })
  const names = new Set(assets.map(({ name }) => name))
  const ofRegions = (regions?.refused ?? []).flatMap((refused, index) =>
    refused.assets.flatMap((asset, place) =>
      names.has(asset)
        ? []
        : [
            {
              path: `/screening/regions/refused/${index}/assets/${place}`,
              message: `${asset} is not one of the assets`,
            },
          ],
    ),
  )
  return [
    ...ofSources,
    ...ofRegions,
    ...findRepeated(
      sources,
      ({ name }) => name,
      (index) => `/screening/sources/${index}/name`,
    ),
  ]
}

/** Finds venues with unknown tokens or chains, and repeated venues. */
function findVenueProblems(network: NetworkFile): Problem[] {
  const { venues = [], assets, chains } = network
  const served = {
    assets,
    chains: chains.map((chain) => ({ ...chain, hasContracts: familyOf(chain).traits.hasContracts })),
  }
  const titleOf = (venue: VenueConfig) => kindOf(venue).titleOf(venue)
  return [
    ...findRepeated(venues, titleOf, (index) => `/venues/${index}`),
    ...venues.flatMap((venue, index) => {
      const problems = kindOf(venue).findProblems(venue, served)
      return problems.map(({ path, message }) => ({ path: `/venues/${index}${path}`, message }))
    }),
  ]
}

/** Finds gas floats that could never pay, or would top up forever. */
function findFloatProblems({ gasFloat, chains }: NetworkFile): Problem[] {
  if (!gasFloat) return []
  const repeated = findRepeated(
    gasFloat.chains,
    ({ chainId }) => chainId,
    (index) => `/gasFloat/chains/${index}/chainId`,
  )
  const each = gasFloat.chains.flatMap((float, index) => {
    const chain = chains.find(({ chainId }) => chainId === float.chainId)
    const at = (name: string) => `/gasFloat/chains/${index}/${name}`
    if (!chain) return [{ path: at('chainId'), message: `no chain ${float.chainId} is configured` }]
    const problems: Problem[] = []
    const { name, nativeToken } = familyOf(chain)
    if (!gasFloat[name]) problems.push({ path: at('chainId'), message: `gasFloat has no ${name} address` })
    const { low, target, maxPerDay } = inUnits(float, nativeToken.decimals)
    if (low === 0n) problems.push({ path: at('low'), message: 'must be above 0' })
    if (target <= low) problems.push({ path: at('target'), message: 'must be above low' })
    if (maxPerDay < target)
      problems.push({ path: at('maxPerDay'), message: 'must be at least target, to fill one empty key' })
    return problems
  })
  // No process would load its key, and the key would then be missing.
  const idle = families
    .filter(({ name }) => gasFloat[name] && !chains.some((chain) => familyOf(chain).name === name))
    .map(({ name }) => ({ path: `/gasFloat/${name}`, message: `no chain of family ${name} is configured` }))
  return [...repeated, ...each, ...idle]
}

type FloatChain = GasFloatConfig['chains'][number]

function inUnits({ low, target, maxPerDay }: FloatChain, decimals: number) {
  const parse = (coins: string) => parseUnits(coins, decimals)
  return { low: parse(low), target: parse(target), maxPerDay: parse(maxPerDay) }
}

/** The price sources of each asset, as configured. */
export type PriceSetup = {
  assets: readonly { name: string; sources: readonly SourceSetup[]; minSources?: number }[]
  chains: readonly { chainId: number; family: string }[]
  pyth?: object
}

type SourceSetup = { kind: 'chainlink'; chainId: number; address: string } | { kind: 'pyth'; feedId: string }

/** Finds problems of price sources beyond the schema. `path` is a JSON pointer. */
export function findPriceProblems({ assets, chains, pyth }: PriceSetup): { path: string; message: string }[] {
  const own = chains.filter((chain) => familyOf(chain).traits.hasContracts)
  const serving = new Set(own.map(({ chainId }) => chainId))
  const names = assets.map(({ name }) => name)
  const problemOf = (source: SourceSetup): string | undefined => {
    if (source.kind === 'pyth') return pyth ? undefined : 'has a pyth source, but pyth.url is not set'
    if (serving.has(source.chainId)) return undefined
    return `has a feed on ${source.chainId}, which is not a configured EVM chain`
  }
  return assets.flatMap(({ name, sources, minSources = 1 }, index) => {
    const at = `/assets/${index}`
    const ids = sources.map(idOf)
    const ofSource = (source: SourceSetup, position: number) => {
      const path = `${at}/sources/${position}`
      const problem = problemOf(source)
      // A repeated feed would outvote another one.
      const isSame = ids.indexOf(idOf(source)) !== position
      return [
        ...(problem === undefined ? [] : [{ path, message: `asset ${name} ${problem}` }]),
        ...(isSame ? [{ path, message: `asset ${name} has the same price source twice` }] : []),
      ]
    }
    const few = `asset ${name} requires ${minSources} sources but has ${sources.length}`
    return [
      ...(names.indexOf(name) === index ? [] : [{ path: at, message: `asset ${name} is listed twice` }]),
      ...sources.flatMap(ofSource),
      ...(minSources > sources.length ? [{ path: `${at}/minSources`, message: few }] : []),
    ]
  })
}

function idOf(source: SourceSetup): string {
  return source.kind === 'pyth' ? source.feedId : `${source.chainId}:${source.address.toLowerCase()}`
}
