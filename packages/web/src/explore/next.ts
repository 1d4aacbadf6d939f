import type { StatusReply } from '@geoswap/sdk'
import { timeOf } from '../parts/countdown.tsx'
import { STATUSES } from '../progress/outcome.ts'

type Standing = { where: string; next: string }

type Known = { deadlines: { fill?: number; refund?: number } }

/** Where the funds are now and what happens next, with deadlines if this browser has the signed operation. */
export function standingOf(
  { status, substatus, deposit }: Pick<StatusReply, 'status' | 'substatus' | 'deposit'>,
  known: Known,
): Standing {
  if (status === 'failed' && deposit?.received) return DEPOSIT_FAILED
  if (status !== 'pending') return STATUSES[status]
  if (substatus === 'awaitingDeposit') return AWAITING
  const isInWallet = substatus === 'accepted'
  const where = isInWallet ? 'The input is in the wallet.' : 'The input is in the escrow, or on its way.'
  return { where, next: nextOf(substatus, known) }
}

const AWAITING: Standing = {
  where: 'The service waits for the deposit.',
  next: 'What comes too late, or is too little, goes back to the wallet.',
}
const DEPOSIT_FAILED: Standing = {
  where: 'The deposit was not swapped.',
  next: 'It goes back to the wallet, by the service or by anyone.',
}

function nextOf(substatus: string, { deadlines: { fill, refund } }: Known): string {
  if (substatus === 'refundBlocked') return 'The refund follows when the wallet can take it.'
  if (substatus === 'refunding') return 'The refund becomes final.'
  const by = fill === undefined ? '' : ` by ${timeOf(fill)}`
  const promise = `The service delivers${by}, or sends the input back.`
  const after = refund === undefined ? 'After the deadline that was signed' : `After ${timeOf(refund)}`
  return `${promise} ${after} anyone can send it back.`
}

/**
 * The refund by the command line: in a clone as it is, elsewhere once it is installed, since npm knows no package of
 * this name.
 */
export function refundCommand(file: string, known: { isLocal: boolean; rpcUrl: string | undefined }): string {
  if (known.isLocal) return `npx geoswap refund --operation ${file}`
  const isPlain = /^[\w:/.-]+$/.test(known.rpcUrl ?? '')
  return `geoswap refund --operation ${file} --rpc ${isPlain ? known.rpcUrl : 'URL'}`
}

type Ended = Pick<StatusReply, 'status' | 'substatus'>

/** The name of the input: it was paid only if it left the wallet. */
export function paidWord({ status, substatus }: Ended): string {
  const isToPay = status === 'pending' && ['awaitingDeposit', 'accepted', 'locking'].includes(substatus)
  return isToPay ? 'To pay' : STATUSES[status].input
}
