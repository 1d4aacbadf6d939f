import type { QuoteReply } from '@geoswap/sdk'
import { formatUnits } from '../amounts.ts'
import { chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { feeUsd, formatUsd } from '../usd.ts'
import type { Order } from './order.ts'
import { feeName } from './words.ts'

// One fewer than a quote has at most, so that the list does not jump when the first price arrives.
const PLACEHOLDERS = ['serviceFee', 'originNetwork', 'deliveryNetwork'] as const

/** Each part of the costs, in the input token. */
export function FeeList({ quote, order }: { quote: QuoteReply | undefined; order: Order }) {
  const { catalog } = useSession()
  const input = tokenOf(catalog, order.originChain, order.inputToken)
  const names = {
    origin: chainOf(catalog, order.originChain)?.name ?? '',
    destination: chainOf(catalog, order.destinationChain)?.name ?? '',
  }
  const rows = quote?.fees ?? PLACEHOLDERS.map((kind) => ({ kind, amount: undefined }))
  return (
    <dl class="rows fees">
      {rows.map(({ kind, amount }) => (
        <div key={kind}>
          <dt>{feeName(kind, { ...names, quote })}</dt>
          <dd>
            <span class="unit">{amount === undefined || !input ? '–' : formatUnits(amount, input)}</span>{' '}
            {amount !== undefined && quote && <FeeUsd amount={amount} quote={quote} />}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** The value of the fee's own amount. */
function FeeUsd({ amount, quote }: { amount: string; quote: QuoteReply }) {
  const usd = feeUsd(amount, quote)
  return usd === undefined ? null : <span class="unit fine">{formatUsd(usd)}</span>
}
