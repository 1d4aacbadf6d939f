import type { FailureCode } from '@geoswap/wire'

export type { FailureCode, RefundReason } from '@geoswap/wire'

/** Messages for swaps that failed before the input was taken. */
export const failureMessages: Record<FailureCode, string> = {
  INVALID_AUTHORIZATION:
    'The delegation authorization no longer matched the wallet when the operation ran. Nothing was taken: ' +
    'read the delegation again, sign a fresh authorization and request a new quote.',
  INPUT_UNAVAILABLE:
    'The wallet no longer held the input when the operation ran. Nothing was taken: ' +
    'fund the wallet and request a new quote.',
  OPERATION_EXPIRED:
    'The operation could not be included before its deadline. Nothing was taken: request a new quote.',
  RECIPIENT_INVALID:
    'The recipient cannot receive the output. Nothing was taken: ' +
    'choose another recipient and request a new quote.',
  PRICE_MOVED: 'The price moved beyond the slippage limit. Nothing was taken: request a new quote.',
  DESTINATION_UNAVAILABLE: 'The destination cannot deliver now. Nothing was taken: try again later.',
}
