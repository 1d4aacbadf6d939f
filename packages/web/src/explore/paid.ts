import type { StatusReply } from '@geoswap/sdk'

type Ended = Pick<StatusReply, 'status' | 'substatus'>

/** The name of the input: it was paid only if it left the wallet. */
export function paidWord({ status, substatus }: Ended): string {
  if (status === 'failed') return 'Not taken'
  if (status === 'refunded') return 'Sent back'
  return status === 'pending' && ['awaitingDeposit', 'accepted', 'locking'].includes(substatus)
    ? 'To pay'
    : 'Paid'
}

/** An addition to the input in a list, unless it was paid or will be. */
export function returnOf({ status }: Pick<Ended, 'status'>): string {
  return ({ failed: ', not taken', refunded: ', sent back' } as Record<string, string>)[status] ?? ''
}
