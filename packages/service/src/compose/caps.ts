import { type ChainConfig, defaultExposureCapUsd, defaultUnclaimedCapUsd } from '../config.ts'
import type { OriginCaps } from '../store/exposure.ts'

/** What may be delivered against inputs of a chain before they are final, and before they are claimed. */
export function capsOf({
  exposureCapUsd = defaultExposureCapUsd,
  unclaimedCapUsd = defaultUnclaimedCapUsd,
}: Pick<ChainConfig, 'exposureCapUsd' | 'unclaimedCapUsd'>): OriginCaps {
  return { exposedCents: BigInt(exposureCapUsd) * 100n, unclaimedCents: BigInt(unclaimedCapUsd) * 100n }
}
