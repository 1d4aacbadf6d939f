import { UserError } from '@geoswap/wallet/errors'

/** Throws unless the escrow holds the input and its deadline has passed by the chain's clock. */
export function assertRefundable(
  state: string,
  { refundDeadline, hash }: { refundDeadline: bigint; hash: string },
  now: bigint,
): void {
  if (state === 'claimed')
    throw new UserError('NOT_REFUNDABLE', 'The output was delivered and the input claimed.')
  if (state !== 'locked') {
    const message = `The escrow does not hold the input of ${hash}: it was never locked, or was returned earlier.`
    throw new UserError('NOT_REFUNDABLE', message, {
      advice: 'Check the balance of the wallet. `geoswap recover` sends back what was deposited.',
    })
  }
  if (now > refundDeadline) return
  const at = new Date(Number(refundDeadline) * 1_000).toISOString()
  const minutes = Math.ceil(Number(refundDeadline - now) / 60)
  throw new UserError(
    'TOO_EARLY',
    `Anyone may refund this after ${at}, in ${minutes} min by the chain's clock.`,
    {
      advice: 'Until then the service delivers it or returns the input. Run this again after that time.',
      details: { refundDeadline: at },
    },
  )
}
