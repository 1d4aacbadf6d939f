import type { SwapRecord } from '@geoswap/sdk'

/** The request of a swap, beside its status. */
export type SwapTerms = Pick<SwapRecord, 'walletAddress' | 'recipient' | 'inputToken' | 'outputToken'>
