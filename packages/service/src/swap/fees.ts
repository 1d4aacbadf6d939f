import type { Catalog, Token } from './catalog.ts'
import type { PairClass } from './pricing.ts'

/** Classes of pairs, each with its own service fee. */
export type FeeClass = 'sameAsset' | 'pegged' | 'stableToVolatile' | 'volatile'

/** Hundredths of a basis point. */
export type ClassFees = Readonly<Record<`${FeeClass}CentiBps`, number>>

/** Applies to the swaps that match all of its given fields. */
type RouteFee = {
  originChain?: number | undefined
  destinationChain?: number | undefined
  inputAsset?: string | undefined
  outputAsset?: string | undefined
  centiBps: number
}
type AccountFees = { readonly [Field in keyof ClassFees]?: number | undefined } & {
  account: string
  /** The most that it may add for itself. */
  maxIntegratorCentiBps?: number | undefined
}

/** The first matching route wins over the class, and what an account has of its own over both. */
export type FeeRules = ClassFees & {
  /** The least that discounts and rebates leave. A lower fee that is configured stays as it is. */
  floorCentiBps: number
  routes: RouteFee[]
  accounts: AccountFees[]
}

export const defaultFees: FeeRules = {
  sameAssetCentiBps: 50,
  peggedCentiBps: 100,
  stableToVolatileCentiBps: 800,
  volatileCentiBps: 800,
  floorCentiBps: 20,
  routes: [],
  accounts: [],
}

/** One fee for every class. */
export const uniformFees = (centiBps: number): ClassFees => ({
  sameAssetCentiBps: centiBps,
  peggedCentiBps: centiBps,
  stableToVolatileCentiBps: centiBps,
  volatileCentiBps: centiBps,
})

export function feeClassOf({ assets }: Catalog, pair: PairClass, sides: readonly Token[]): FeeClass {
  if (pair === 'sameAsset') return 'sameAsset'
  if (pair === 'stable') return 'pegged'
  return sides.some(({ asset }) => assets.get(asset)?.usdStable) ? 'stableToVolatile' : 'volatile'
}

type Charged = { accountId: string; feeClass: FeeClass; input: Token; output: Token }

/** The service fee of a swap before discounts. */
export function baseFeeOf(rules: FeeRules, { accountId, feeClass, input, output }: Charged): number {
  const field = `${feeClass}CentiBps` as const
  const own = rules.accounts.find(({ account }) => account === accountId)?.[field]
  if (own !== undefined) return own
  const matches = (wanted: number | string | undefined, actual: number | string) =>
    wanted === undefined || wanted === actual
  const route = rules.routes.find(
    (each) =>
      matches(each.originChain, input.chainId) &&
      matches(each.destinationChain, output.chainId) &&
      matches(each.inputAsset, input.asset) &&
      matches(each.outputAsset, output.asset),
  )
  return route?.centiBps ?? rules[field]
}

/** The least that reductions leave of a fee. */
export const floorOf = ({ floorCentiBps }: Pick<FeeRules, 'floorCentiBps'>, base: number): number =>
  Math.min(base, floorCentiBps)

export const mostIntegratorFee = ({ accounts }: Pick<FeeRules, 'accounts'>, accountId: string): number =>
  accounts.find(({ account }) => account === accountId)?.maxIntegratorCentiBps ?? 0

/** The part of a fee that a rebate may take. */
export const mostGain = (rules: FeeRules, feeCentiBps: number): bigint =>
  BigInt(feeCentiBps - floorOf(rules, feeCentiBps))
