/** The price sources of each asset, as configured. */
export type PriceSetup = {
  assets: readonly { name: string; sources: readonly SourceSetup[]; minSources?: number }[]
  chains: readonly { chainId: number; family: string }[]
  pyth?: object
}

type SourceSetup = { kind: 'chainlink'; chainId: number; address: string } | { kind: 'pyth'; feedId: string }

/** Finds problems of price sources beyond the schema. `path` is a JSON pointer. */
export function findPriceProblems({ assets, chains, pyth }: PriceSetup): { path: string; message: string }[] {
  const evm = new Set(chains.filter(({ family }) => family === 'evm').map(({ chainId }) => chainId))
  const names = assets.map(({ name }) => name)
  const problemOf = (source: SourceSetup): string | undefined => {
    if (source.kind === 'pyth') return pyth ? undefined : 'has a pyth source, but pyth.url is not set'
    if (evm.has(source.chainId)) return undefined
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
