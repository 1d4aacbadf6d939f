import { type ChainConfig, defaultExposureCapUsd, defaultUnclaimedCapUsd } from '../config.ts'
import type { OriginCaps } from '../store/exposure.ts'

/** Limits of deliveries against inputs of a chain that are not final, and that are not claimed. */
export function capsOf({
  exposureCapUsd = defaultExposureCapUsd,
  unclaimedCapUsd = defaultUnclaimedCapUsd,
}: Pick<ChainConfig, 'exposureCapUsd' | 'unclaimedCapUsd'>): OriginCaps {
  return { exposedCents: BigInt(exposureCapUsd) * 100n, unclaimedCents: BigInt(unclaimedCapUsd) * 100n }
}
