import { usdE18 } from '../model/amount.ts'
import type { Catalog, Market } from '../model/catalog.ts'

const E12 = 10n ** 12n

/**
 * Cost of a lock by a contract wallet, in millionths of a US dollar; undefined while fees or the price of the coin are
 * not known. Includes the claim, which costs less than a wallet's code may add.
 */
export function lockUsdE6(market: Market, { chains }: Catalog, chainId: number): bigint | undefined {
  const native = chains.get(chainId)?.native
  const price = native && market.priceOf(native.asset)
  const costs = market.chainNow(chainId)?.costs
  if (price === undefined || !costs) return undefined
  const cost = costs.ways?.authorization ?? costs.lock
  return usdE18(cost, { decimals: native?.decimals ?? 0, price }) / E12
}
