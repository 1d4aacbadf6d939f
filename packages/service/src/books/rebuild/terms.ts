import { createDeliveryHasher } from '@geoswap/protocol'
import type { DeliveryTerms, LockTerms } from '../../chains/recovery.ts'
import { type DeadlinePolicy, type Finality, lockToFillSeconds, refundMargin } from '../../swap/deadlines.ts'
import { possibleHardSeconds } from '../../swap/finality.ts'
import { type CustodyOf, type OpContent, termsOfOp } from '../../swap/op-terms.ts'
import { withSlippage } from '../../swap/pricing.ts'

type Found = {
  hash: string
  originChain: number
  lock: Omit<LockTerms, 'method' | 'depositAddress'>
  delivery: DeliveryTerms & { chainId: number; amount: bigint }
}

export type Rules = {
  custodyOf: CustodyOf
  deadlines: DeadlinePolicy
  finalityOf(origin: number, destination: number): Finality
}

const CLOCKS_APART_SECONDS = 3_600
// The largest slippage that quotes accept.
const MAX_SLIPPAGE_BPS = 5_000

/**
 * Recovers the terms of a delivered op from its two transactions; undefined if they do not give its hash. If the
 * delivery transaction lacks minimum and deadline, they are searched: both follow from a few numbers, and the hash
 * confirms them.
 */
export function completeTerms(rules: Rules, found: Found): OpContent | undefined {
  const rest = found.delivery.rest ?? searchRest(rules, found)
  const content = rest && contentOf(found, rest)
  if (!content) return undefined
  const { hash, deliveryHash } = termsOfOp(rules.custodyOf, content)
  return hash === found.hash && deliveryHash === found.lock.deliveryHash ? content : undefined
}

type Rest = { position: bigint; round: bigint; minOutput: bigint; fillDeadline: number }

function contentOf({ originChain, lock, delivery }: Found, rest: Rest): OpContent {
  const { wallet, inputToken, inputAmount, locker, signed } = lock
  const { position, round, minOutput, fillDeadline } = rest
  // A signed transfer ends by its height: no chain rule uses its first deadline, which only has to be in order.
  const { opDeadline, refundDeadline } = signed ?? {
    opDeadline: fillDeadline - 1,
    refundDeadline: lock.refundDeadline ?? fillDeadline + 1,
  }
  return {
    originChain,
    destinationChain: delivery.chainId,
    wallet,
    inputToken,
    inputAmount,
    locker,
    outputToken: delivery.outputToken,
    recipient: delivery.recipient,
    minOutput,
    position,
    round,
    opDeadline,
    fillDeadline,
    refundDeadline,
  }
}

function searchRest(rules: Rules, found: Found): Rest | undefined {
  const { signed, deliveryHash } = found.lock
  if (!signed) return undefined
  const { amount, chainId } = found.delivery
  const { signed: named } = termsOfOp(
    rules.custodyOf,
    contentOf(found, { ...signed, minOutput: 0n, fillDeadline: 0 }),
  )
  const hashOf = createDeliveryHasher('delivery' in named ? named.delivery : named)
  const deadlines = fillDeadlinesOf(rules, signed, rules.finalityOf(found.originChain, chainId))
  for (let bps = 0; bps <= MAX_SLIPPAGE_BPS; bps += 1) {
    const minOutput = bps === 0 ? amount : withSlippage(amount, bps)
    const isIt = (seconds: number) => hashOf({ minOutput, fillDeadline: BigInt(seconds) }) === deliveryHash
    const fillDeadline = deadlines.find(isIt)
    if (fillDeadline !== undefined) return { ...signed, minOutput, fillDeadline }
  }
  return undefined
}

/**
 * The inverse of `deadlinesFrom`, for either clock being ahead at the build, and for each possible measured finality.
 */
function fillDeadlinesOf(
  { deadlines }: Rules,
  signed: { opDeadline: number; refundDeadline: number },
  configured: Finality,
) {
  const found = new Set<number>()
  for (const originSeconds of possibleHardSeconds(configured.originSeconds)) {
    for (const destinationSeconds of possibleHardSeconds(configured.destinationSeconds)) {
      const at = { originSeconds, destinationSeconds }
      const ahead = signed.opDeadline + lockToFillSeconds(deadlines, at)
      const behind = signed.refundDeadline - refundMargin(deadlines, at)
      // The difference between the clocks: a finality that would make it larger is ruled out.
      if (behind < ahead || behind - ahead > CLOCKS_APART_SECONDS) continue
      found.add(ahead)
      found.add(behind)
    }
  }
  return [...found]
}
