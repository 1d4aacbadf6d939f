import type { ChainEntry } from '@geoswap/sdk'
import { evm } from './evm.ts'
import type { Family, FamilyName } from './family.ts'
import { solana } from './solana.ts'

export const families: Readonly<Record<FamilyName, Family>> = { evm, solana }

/** In the order in which the page lists them. */
export const familyNames = Object.keys(families) as FamilyName[]

/** The family on whose chains this page sends refunds. */
export const refundFamily = familyNames.find((name) => families[name].canRefund)

/** Whether this page may send refunds there, also if the service no longer lists the chain. */
export const mayRefund = (chain: ChainEntry | undefined): boolean =>
  chain === undefined || families[chain.family].canRefund
