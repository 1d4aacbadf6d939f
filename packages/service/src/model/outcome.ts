import type { FailureCode } from '@geoswap/wire'

export type { FailureCode, RefundReason } from '@geoswap/wire'

/** Messages for swaps that failed before the input was taken. */
export const failureMessages: Record<FailureCode, string> = {
  INVALID_AUTHORIZATION:
    'The signed authorization or permit no longer matched the wallet when the operation ran. Nothing was taken: ' +
    'request a new quote and sign again.',
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
  DEPOSIT_MISSING:
    'No deposit of the input token arrived in time. Whatever else comes to the address goes back to the wallet: ' +
    'request a new quote.',
  DEPOSIT_TOO_SMALL:
    'The deposit was smaller than the input. It goes back to the wallet: request a new quote and send all of it.',
}
