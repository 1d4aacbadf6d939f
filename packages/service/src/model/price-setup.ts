/** Which price sources an asset has, as the configuration says it. */
export type PriceSetup = {
  assets: readonly { name: string; sources: readonly SourceSetup[]; minSources?: number }[]
  chains: readonly { chainId: number; family: string }[]
  pyth?: object
}

type SourceSetup = { kind: 'chainlink'; chainId: number; address: string } | { kind: 'pyth'; feedId: string }

/** What is wrong with the price sources beyond the shape of each: one sentence per problem. */
export function findPriceProblems({ assets, chains, pyth }: PriceSetup): string[] {
  const evm = new Set(chains.filter(({ family }) => family === 'evm').map(({ chainId }) => chainId))
  const names = assets.map(({ name }) => name)
  const twice = names.filter((name, index) => names.indexOf(name) !== index)
  const problemsOf = (source: SourceSetup): string[] => {
    if (source.kind === 'pyth') return pyth ? [] : ['has a pyth source, and pyth.url is not set']
    return evm.has(source.chainId) ? [] : [`has a feed on ${source.chainId}, which is not an EVM chain here`]
  }
  return [
    ...twice.map((name) => `asset ${name} is there twice`),
    ...assets.flatMap(({ name, sources, minSources = 1 }) => {
      // The same feed twice would outvote another one.
      const distinct = new Set(sources.map(idOf)).size
      const few = minSources > sources.length ? [`wants ${minSources} sources and has ${sources.length}`] : []
      const same = distinct < sources.length ? ['has the same price source twice'] : []
      return [...sources.flatMap(problemsOf), ...few, ...same].map((problem) => `asset ${name} ${problem}`)
    }),
  ]
}

function idOf(source: SourceSetup): string {
  return source.kind === 'pyth' ? source.feedId : `${source.chainId}:${source.address.toLowerCase()}`
}
