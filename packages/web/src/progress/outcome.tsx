import { plainText, type StatusReply } from '@geoswap/sdk'
import { formatExact, formatUnits, type Unit } from '../amounts.ts'
import { Notice } from '../parts/notice.tsx'
import { Row } from '../parts/row.tsx'
import { TxLink } from '../parts/tx-link.tsx'
import { type Catalog, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { refundReason } from '../swap/words.ts'
import type { SwapTerms } from './swap-terms.ts'

type Props = { swap: StatusReply; terms: SwapTerms | undefined }

/** The status in one sentence, which screen readers announce on each change. */
export function Outcome({ swap, terms }: Props) {
  const { catalog } = useSession()
  const { originTxHash, deliveryTxHash, refund, originChain, destinationChain } = swap
  return (
    <Notice tone={TONES[swap.status]}>
      <p class="outcome">{sentence(swap, terms, catalog)}</p>
      {swap.status !== 'pending' && (originTxHash || deliveryTxHash || refund?.txHash) && (
        <dl class="rows">
          {originTxHash && (
            <Hash
              name={swap.status === 'failed' ? 'Tried by' : 'Input taken by'}
              hash={originTxHash}
              chainId={originChain}
            />
          )}
          {deliveryTxHash && swap.status === 'settled' && (
            <Hash name="Delivered by" hash={deliveryTxHash} chainId={destinationChain} />
          )}
          {refund?.txHash && <Hash name="Refunded by" hash={refund.txHash} chainId={originChain} />}
        </dl>
      )}
    </Notice>
  )
}

function Hash({ name, hash, chainId }: { name: string; hash: string; chainId: number }) {
  return (
    <Row name={name}>
      <TxLink hash={hash} chainId={chainId} label={`transaction: ${name}`} />
    </Row>
  )
}

const TONES = { pending: 'plain', settled: 'good', failed: 'warn', refunded: 'warn' } as const

function sentence(swap: StatusReply, terms: SwapTerms | undefined, catalog: Catalog): string {
  const { amounts, failure, refund } = swap
  const input = terms && tokenOf(catalog, swap.originChain, terms.inputToken)
  const output = terms && tokenOf(catalog, swap.destinationChain, terms.outputToken)
  const paid = input ? formatUnits(amounts.input, input) : 'The input'
  if (swap.status === 'settled')
    return `Done. ${output ? formatUnits(amounts.delivered ?? amounts.quotedOutput, output) : 'The output'} arrived.`
  if (swap.status === 'failed' && swap.deposit?.received)
    return `It did not happen, and the deposit goes back to the wallet. ${plainText(failure?.message ?? '')}`
  if (swap.status === 'failed')
    return `It did not happen, and nothing was taken. ${plainText(failure?.message ?? '')}`
  if (swap.status === 'refunded') {
    const where = refund?.credited
      ? 'is in the escrow for the wallet to withdraw, since the token refused the transfer'
      : 'is back in the wallet'
    return `${paid} ${where}. ${refundReason(refund?.reason ?? '')}`
  }
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
