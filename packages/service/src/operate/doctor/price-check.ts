import { type Findings, joinFindings } from '../../chains/findings.ts'
import type { Env } from '../../command.ts'
import type { Chains } from '../../compose/chains.ts'
import { verifyPyth } from '../../compose/prices.ts'
import type { NetworkConfig } from '../../config.ts'
import { type FeedState, USUAL_SOURCES } from '../../market/prices/book.ts'
import type { Reference, Unavailable } from '../../market/prices/reference.ts'
import { readPrices, readPythKey } from '../inventory/session.ts'

type AssetPrices = { asset: string; sources: number; reference: Reference; feeds: readonly FeedState[] }

/** Verifies the names of feeds, and that each asset has a price now. */
export async function checkPrices(env: Env, network: NetworkConfig, chains: Chains): Promise<Findings> {
  const [names, prices] = await Promise.all([
    verifyPyth({ network, pythApiKey: readPythKey(env) }),
    readAssets(env, network, chains).then(judgePrices),
  ])
  return joinFindings([names, prices])
}

/** Judged as soon as they are read: after ten seconds in memory every source counts as silent. */
async function readAssets(env: Env, network: NetworkConfig, chains: Chains): Promise<AssetPrices[]> {
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
