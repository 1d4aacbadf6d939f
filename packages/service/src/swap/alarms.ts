import type { OperatorAlarm, OperatorOverview } from '@geoswap/wire'
import { largest } from './amount.ts'
import { isTooSlow } from './finality.ts'
import { reservingStates } from './lifecycle.ts'

/** The vault's stock of a token. `isBought`: a venue buys the token from a pool if there is none. */
type Stock = { held: bigint; reserved: bigint; isBought: boolean }

/**
 * The reserved share in thousandths; at 1,000 nothing more can be delivered. A bought token counts as unused, since its
 * pool supplies it, and so does one that was never stocked: `lastsPermille` tells one that ran out.
 */
export function usedPermille({ held, reserved, isBought }: Stock): bigint {
  if (isBought && reserved <= held) return 0n
  if (held > 0n) return (reserved * 1_000n) / held
  return reserved > 0n ? 1_000n : 0n
}

/** How long the free amount lasts, in thousandths of a day. Undefined if there is no daily need. */
export function lastsPermille({ held, reserved, isBought }: Stock, dailyNeed: bigint): bigint | undefined {
  if (isBought || dailyNeed === 0n) return undefined
  return (largest(held - reserved, 0n) * 1_000n) / dailyNeed
}

/** The data that alarms are derived from. */
export type Watched = Omit<OperatorOverview, 'at' | 'network' | 'alarms' | 'assets' | 'earnings'>

type Judge = (watched: Watched) => string[]
type Rule = Pick<OperatorAlarm, 'name' | 'severity'> & { find: Judge }

// The thresholds of deploy/alerts.yaml.
const FEW_TOP_UPS = 3
// An accepted swap ends by its op deadline: after a quarter of an hour nobody serves its locker. The others may have to
// wait for finality.
const STUCK_SECONDS = { accepted: 1_200, other: 3_600 }
// These take seconds. The other states may wait for finality.
const SLOW_SECONDS = 60
const SLOW = new Set(['accepted', 'locking', 'delivering'])
const CLAIM_MARGIN = 0.5
// Finality of Ethereum and its rollups moves every 384 seconds, and books are compared at final blocks.
const BOOKS_SECONDS = 900
const USED_PERMILLE = 800n
const DAY_PERMILLE = 1_000n
const MANY_REFUNDS = 20

const MOVING = new Set<string>([...reservingStates, 'refundDecided', 'refunding'])

const RULES: readonly Rule[] = [
  { name: 'GeoswapNoWorker', severity: 'page', find: findNoWorker },
  { name: 'GeoswapChainDown', severity: 'page', find: findChainsDown },
  { name: 'GeoswapGasLow', severity: 'page', find: findGasLow },
  { name: 'GeoswapSwapStuck', severity: 'page', find: findStuck },
  { name: 'GeoswapSwapSlow', severity: 'ticket', find: findSlow },
  { name: 'GeoswapFinalityStalled', severity: 'page', find: findFinalityStalled },
  { name: 'GeoswapClaimsLate', severity: 'page', find: findClaimsLate },
  { name: 'GeoswapTermsUnsigned', severity: 'page', find: findUnsigned },
  { name: 'GeoswapQuarantine', severity: 'ticket', find: findQuarantined },
  { name: 'GeoswapAttestersChange', severity: 'page', find: findAttesterChanges },
  { name: 'GeoswapTokenClosed', severity: 'ticket', find: findClosed },
  { name: 'GeoswapInputLost', severity: 'page', find: findInputsLost },
  { name: 'GeoswapDrift', severity: 'page', find: findDrift },
  { name: 'GeoswapPriceSourceLost', severity: 'page', find: findPricesLost },
  { name: 'GeoswapGasFloatLow', severity: 'ticket', find: findFloatLow },
  { name: 'GeoswapRefundBlocked', severity: 'ticket', find: findBlocked },
  { name: 'GeoswapFinalitySlow', severity: 'ticket', find: findFinalitySlow },
  { name: 'GeoswapUnclaimedHigh', severity: 'ticket', find: findUnclaimedHigh },
  { name: 'GeoswapBooksLate', severity: 'ticket', find: findBooksLate },
  { name: 'GeoswapInventoryLow', severity: 'ticket', find: findInventoryLow },
  { name: 'GeoswapInventoryRunsOut', severity: 'ticket', find: findInventoryRunsOut },
  { name: 'GeoswapManyRefunds', severity: 'ticket', find: findManyRefunds },
  { name: 'GeoswapWebhooksFail', severity: 'ticket', find: findWebhooksFail },
]

/**
 * Returns the conditions of deploy/alerts.yaml that the overview shows right now. Prometheus waits before it alerts.
 */
export function findAlarms(watched: Watched): OperatorAlarm[] {
  return RULES.flatMap(({ name, severity, find }) =>
    find(watched).map((summary) => ({ name, severity, summary })),
  )
}

function findNoWorker({ lanesHeld }: Watched): string[] {
  return lanesHeld > 0 ? [] : ['No worker holds a lane: nothing is locked, delivered or refunded']
}

function findChainsDown({ chains }: Watched): string[] {
  const down = chains.filter(({ isLive }) => !isLive)
  return down.map(({ name }) => `The nodes of ${name} do not answer, disagree or are stuck`)
}

function findFinalityStalled({ chains }: Watched): string[] {
  return chains
    .filter(({ finalitySeconds, measuredFinalitySeconds }) =>
      isTooSlow(finalitySeconds, measuredFinalitySeconds),
    )
    .map(
      ({ name }) => `Finality of ${name} takes more than three times as long as configured: its swaps wait`,
    )
}

/** Omits stalled chains: `findFinalityStalled` reports them. */
function findFinalitySlow({ chains }: Watched): string[] {
  const slow = chains.filter(
    ({ finalitySeconds, measuredFinalitySeconds = 0 }) =>
      measuredFinalitySeconds > finalitySeconds && !isTooSlow(finalitySeconds, measuredFinalitySeconds),
  )
  return slow.map(({ name }) => `Finality of ${name} takes longer than configured`)
}

function findGasLow({ senders, chains }: Watched): string[] {
  return senders
    .filter(({ isLow }) => isLow)
    .map(({ address, chainId }) => `${address} on ${nameOf(chains, chainId)} runs out of gas coin`)
}

function findFloatLow({ gasFloats }: Watched): string[] {
  return gasFloats
    .filter(({ topUpsLeft }) => topUpsLeft < FEW_TOP_UPS)
    .map(({ chain, topUpsLeft }) => `The gas float on ${chain} can fill up ${topUpsLeft} more keys`)
}

function findStuck({ swaps }: Watched): string[] {
  return swaps.open.filter(isStuck).map(describeOldest)
}

/** Omits stuck swaps: `findStuck` reports them. */
function findSlow({ swaps }: Watched): string[] {
  const isSlow = ({ state, oldestSeconds }: Oldest) => SLOW.has(state) && oldestSeconds > SLOW_SECONDS
  return swaps.open.filter((open) => isSlow(open) && !isStuck(open)).map(describeOldest)
}

type Oldest = Watched['swaps']['open'][number]

function isStuck({ state, oldestSeconds }: Oldest): boolean {
  const most = state === 'accepted' ? STUCK_SECONDS.accepted : STUCK_SECONDS.other
  return MOVING.has(state) && oldestSeconds > most
}

const describeOldest = ({ state, oldestSeconds }: Oldest) =>
  `A swap has been ${state} for ${Math.floor(oldestSeconds)} seconds`

function findDrift({ stops }: Watched): string[] {
  const drifts = stops.filter(({ why }) => why === 'drift')
  return drifts.map(({ what, note }) => `The books and the chain disagree; ${what} is stopped: ${note}`)
}

function findPricesLost({ prices }: Watched): string[] {
  const lost = prices.filter(({ price }) => price === undefined)
  return lost.map(({ asset }) => `${asset} has no price: too few of its sources are fresh, or they disagree`)
}

function findBlocked({ swaps }: Watched): string[] {
  const isBlocked = swaps.open.some(({ state, count }) => state === 'refundBlocked' && count > 0)
  return isBlocked
    ? ['A refund waits: an account is frozen or closed, or attested refunds are stopped or capped']
    : []
}

function findClaimsLate({ swaps }: Watched): string[] {
  const isLate = swaps.claimMarginUsed > CLAIM_MARGIN
  return isLate ? ['Half of the time to claim the input of a delivered swap has passed'] : []
}

function findUnsigned({ swaps }: Watched): string[] {
  const { unsigned } = swaps
  return unsigned > 0 ? [`Stored terms of ${unsigned} swaps differ from what their wallets signed`] : []
}

function findQuarantined({ swaps }: Watched): string[] {
  const { quarantined } = swaps
  return quarantined > 0
    ? [`${quarantined} swaps, events or accounts failed three times and are set aside`]
    : []
}

function findClosed({ chains }: Watched): string[] {
  return chains.flatMap(({ closed = [] }) => closed.map(({ symbol, why }) => `${symbol} is closed: ${why}`))
}

function findAttesterChanges({ chains }: Watched): string[] {
  return chains.flatMap(({ name, attesterChangeAt }) =>
    attesterChangeAt === undefined
      ? []
      : [`Other attesters follow in the escrow of ${name}, for refund deadlines from ${attesterChangeAt} on`],
  )
}

function findInputsLost({ chains }: Watched): string[] {
  const lost = chains.filter(({ lostCents }) => lostCents !== '0')
  return lost.map(({ name }) => `A reorg of ${name} undid an input whose output was delivered`)
}

function findUnclaimedHigh({ chains }: Watched): string[] {
  const isHigh = ({ unclaimedCents, unclaimedCapCents }: Watched['chains'][number]) =>
    BigInt(unclaimedCents) * 1_000n > BigInt(unclaimedCapCents) * USED_PERMILLE
  return chains
    .filter(isHigh)
    .map(({ name }) => `Delivered and unclaimed value from ${name} is close to its cap`)
}

function findBooksLate({ books, chains }: Watched): string[] {
  const late = books.chains.filter(({ ageSeconds }) => ageSeconds > BOOKS_SECONDS)
  return late.map(({ chainId }) => `${nameOf(chains, chainId)} has not been compared with its books lately`)
}

function findInventoryLow({ inventory, chains }: Watched): string[] {
  return inventory
    .filter((holding) => usedPermille(stockOf(holding)) > USED_PERMILLE)
    .map(({ symbol, chainId, held }) => {
      const what = held === '0' ? 'is not held at all' : 'is nearly all reserved'
      return `${symbol} on ${nameOf(chains, chainId)} ${what}`
    })
}

function findInventoryRunsOut({ inventory, chains }: Watched): string[] {
  return inventory
    .filter((holding) => {
      const lasts = lastsPermille(stockOf(holding), BigInt(holding.dailyNeed))
      return lasts !== undefined && lasts < DAY_PERMILLE
    })
    .map(({ symbol, chainId }) => `${symbol} on ${nameOf(chains, chainId)} lasts less than a day`)
}

function stockOf({ held, reserved, isBought }: Watched['inventory'][number]): Stock {
  return { held: BigInt(held), reserved: BigInt(reserved), isBought }
}

function findManyRefunds({ swaps }: Watched): string[] {
  const counts = swaps.ended.filter(({ status }) => status === 'refunded').map(({ count }) => count)
  const sum = counts.reduce((all, each) => all + each, 0)
  return sum > MANY_REFUNDS ? [`${sum} swaps of the last hour were refunded`] : []
}

function findWebhooksFail({ webhooks }: Watched): string[] {
  const isFailing = webhooks.failing + webhooks.disabled > 0
  return isFailing ? ['Webhook endpoints reject events or are disabled'] : []
}

function nameOf(chains: Watched['chains'], id: number): string {
  return chains.find(({ chainId }) => chainId === id)?.name ?? `chain ${id}`
}
