import { divideUp, largest, tenTo } from './amount.ts'
import type { LegCosts } from './catalog.ts'
import { marksOf } from './gas.ts'
import type { GasFloat, Senders } from './served-chain.ts'

// Fees may double before anybody notices.
const HEADROOM = 2n
/** Swaps that a key is funded for by default: more than twice the mark of the alarm. */
const FUNDED_SWAPS = 300n

/**
 * The recommended balance of a key, in the smallest unit of the gas coin: its part of this many swaps at twice the
 * current fees, with the deposits of all of them, or the target of the gas float.
 */
export function fundingOf(
  role: keyof Senders,
  costs: LegCosts,
  { float, swaps = FUNDED_SWAPS }: { float?: GasFloat | undefined; swaps?: bigint } = {},
): bigint {
  if (float) return float.limits.target
  const legs = { relay: costs.lock, authorize: costs.firstLock, deliver: costs.delivery }
  const { lock = 0n, delivery = 0n } = costs.deposits ?? {}
  const deposits = { relay: lock, authorize: lock, deliver: delivery }
  return largest((legs[role] * HEADROOM + deposits[role]) * swaps, marksOf(costs).low)
}

type Funded = { balance: bigint; needs: bigint }

/** The amount to send: nothing while more than half is left, so that a second run sends nothing. */
export function missingOf({ balance, needs }: Funded): bigint {
  return balance * 2n < needs ? needs - balance : 0n
}

const DIGITS = 2

/** An amount in whole coins, rounded up to two digits. */
export function about(amount: bigint, decimals: number): string {
  const step = tenTo(Math.max(0, String(amount).length - DIGITS))
  const digits = String(divideUp(amount, step) * step).padStart(decimals + 1, '0')
  const point = digits.length - decimals
  const fraction = digits.slice(point).replace(/0+$/, '')
  return fraction === '' ? digits.slice(0, point) : `${digits.slice(0, point)}.${fraction}`
}

type Coin = { symbol: string; decimals: number }

/** Tells an operator which key to fund. */
export function describeGasNeed(address: string, chain: string, needs: bigint, coin: Coin): string {
  return `no gas at ${address} on ${chain}, needs about ${about(needs, coin.decimals)} ${coin.symbol}`
}
