import type { StatusReply } from '@geoswap/sdk'
import { money } from '../order-lines.ts'
import type { Order } from '../store/journal.ts'

type Swap = Pick<StatusReply, 'status' | 'substatus' | 'originChain' | 'destinationChain' | 'amounts'> &
  Pick<StatusReply, 'originTxHash' | 'deliveryTxHash' | 'refund' | 'deposit'>

/** Says where the money of a swap is now. Without its order the amounts have no units, and are left out. */
export function whereIsMoney(swap: Swap, order: Order | undefined): string {
  const { input, holder, output, recipient } = namesOf(swap, order)
  const { originTxHash, deliveryTxHash, refund, deposit } = swap
  switch (swap.substatus) {
    case 'awaitingDeposit':
      return `waiting for ${input} at ${deposit?.address ?? 'the address of the operation'}`
    case 'accepted':
      return `accepted: ${input} is still ${deposit ? `at ${deposit.address}` : 'in the wallet'}`
    case 'locking':
      return `locking ${input}${inTx(originTxHash)}`
    case 'locked':
      return `${input} is locked at ${holder}${inTx(originTxHash)}`
    case 'delivering':
      return `${input} is locked at ${holder}; delivering ${output}${inTx(deliveryTxHash)}`
    case 'delivered':
      return `${output} was delivered to ${recipient}${inTx(deliveryTxHash)}`
    case 'refunding':
      return `${input} is locked at ${holder} and goes back to the wallet${inTx(refund?.txHash)}`
    case 'refundBlocked':
      return `${input} is locked at ${holder}; the refund to the wallet has to wait`
    case 'refunded':
      return refund?.credited
        ? `${input} is at ${holder} for the wallet to withdraw${inTx(refund.txHash)}`
        : `${input} was refunded to the wallet${inTx(refund?.txHash)}`
    case 'failed':
      return deposit?.received ? failedDeposit(deposit) : `failed: ${input} never left the wallet`
  }
}

function namesOf({ amounts, originChain, destinationChain }: Swap, order: Order | undefined) {
  const style = { raw: false }
  const input = order ? money(amounts.input, order.from, style) : `the input on chain ${originChain}`
  const output = order
    ? money(amounts.delivered ?? amounts.quotedOutput, order.to, style)
    : `the output on chain ${destinationChain}`
  const chain = order?.from.chain ?? `chain ${originChain}`
  const recipient = order?.recipient ?? 'the recipient'
  return { input, output, recipient, holder: `the escrow of ${chain}` }
}

function inTx(hash: string | undefined): string {
  return hash === undefined ? '' : ` in tx ${hash}`
}

/** A deposit that was not swapped goes back to the wallet, by the service or by `geoswap recover`. */
function failedDeposit({ address, returned }: NonNullable<StatusReply['deposit']>): string {
  const last = returned?.at(-1)
  if (last) return `failed: the deposit went back to the wallet${inTx(last.txHash)}`
  return `failed: the deposit at ${address} goes back to the wallet`
}
