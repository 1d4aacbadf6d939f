import { plainText, type StatusReply, type SwapRecord } from '@geoswap/sdk'
import type { SwapStatus } from '@geoswap/wire/names'
import { formatExact, formatUnits, type Unit } from '../amounts.ts'
import { type Catalog, tokenOf } from '../service/catalog.ts'
import { refundReason } from '../swap/words.ts'

type Words = {
  name: string
  tone: 'plain' | 'good' | 'warn'
  /** The input in a list. `note` follows its amount. */
  input: string
  note: string
  /** Where the funds are, once the swap has ended, and how it goes on. */
  where: string
  next: string
}

/** The words for each status. Those of a pending swap depend on its substatus. */
export const STATUSES: Readonly<Record<SwapStatus, Words>> = {
  pending: { name: 'Under way', tone: 'plain', input: 'Paid', note: '', where: '', next: '' },
  settled: {
    name: 'Settled',
    tone: 'good',
    input: 'Paid',
    note: '',
    where: 'The recipient has the output.',
    next: 'It is over.',
  },
  failed: {
    name: 'Failed',
    tone: 'warn',
    input: 'Not taken',
    note: ', not taken',
    where: 'The input never left the wallet.',
    next: 'It can never be taken.',
  },
  refunded: {
    name: 'Refunded',
    tone: 'warn',
    input: 'Sent back',
    note: ', sent back',
    where: 'The wallet has its input back.',
    next: 'It is over.',
  },
}

/** The request of a swap, beside its status. */
export type SwapTerms = Pick<SwapRecord, 'walletAddress' | 'recipient' | 'inputToken' | 'outputToken'>

/** The status in one sentence. */
export function outcomeOf(swap: StatusReply, terms: SwapTerms | undefined, catalog: Catalog): string {
  const { amounts, failure, refund } = swap
  const input = terms && tokenOf(catalog, swap.originChain, terms.inputToken)
  const output = terms && tokenOf(catalog, swap.destinationChain, terms.outputToken)
  const paid = input ? formatUnits(amounts.input, input) : 'The input'
  switch (swap.status) {
    case 'settled':
      return `Done. ${output ? formatUnits(amounts.delivered ?? amounts.quotedOutput, output) : 'The output'} arrived.`
    case 'failed': {
      const what = failedWords(swap.deposit)
      return `It did not happen, and ${what}. ${plainText(failure?.message ?? '')}`
    }
    case 'refunded': {
      const where = refund?.credited
        ? 'is in the escrow for the wallet to withdraw, since the token refused the transfer'
        : 'is back in the wallet'
      return `${paid} ${where}. ${refundReason(refund?.reason ?? '')}`
    }
    case 'pending':
      return pendingOf(swap, input)
  }
}

/** `next` is present as long as something is to come back. */
function failedWords(deposit: StatusReply['deposit']): string {
  if (!deposit?.received) return 'nothing was taken'
  return deposit.next === undefined
    ? 'all that was sent is back in the wallet'
    : 'what was sent goes back to the wallet'
}

function pendingOf(swap: StatusReply, input: Unit | undefined): string {
  if (swap.substatus === 'awaitingDeposit' && input) return awaited(swap, input)
  if (swap.substatus === 'accepted' && swap.deposit) return 'The deposit was seen. It is about to be taken.'
  return PENDING[swap.substatus] ?? 'Under way.'
}

function awaited({ amounts, deposit }: StatusReply, input: Unit): string {
  const received = BigInt(deposit?.received ?? 0)
  const missing = BigInt(amounts.input) - received
  if (received === 0n) return 'Nothing came to the address yet.'
  if (missing <= 0n) return 'All of it came. The service waits for enough of the output.'
  return `${formatUnits(received, input)} came. Send ${formatExact(missing, input.decimals)} ${input.symbol} more.`
}

const PENDING: Readonly<Record<string, string>> = {
  awaitingDeposit: 'The service waits for the deposit.',
  accepted: 'The service has it. The input is about to be taken.',
  locking: 'The input is on its way into the escrow.',
  locked: 'The input is held safely. The output is about to be paid.',
  delivering: 'The output is on its way to the recipient.',
  refunding: 'It could not be delivered. The input is on its way back.',
  refundBlocked: 'The input is to go back, but the wallet cannot take it now. It follows when it can.',
}
