import type { QuoteReply } from '@geoswap/sdk'
import { type Order, turned } from './order.ts'
import { PaySide } from './pay-side.tsx'
import { ReceiveSide } from './receive-side.tsx'

type Props = {
  order: Order
  onChange(order: Order): void
  quote: QuoteReply | undefined
  isBusy: boolean
}

/** The input and the output of the swap. */
export function OrderForm({ order, onChange, quote, isBusy }: Props) {
  return (
    <fieldset class="order" disabled={isBusy}>
      <legend class="unseen">Order</legend>
      <PaySide order={order} onChange={onChange} />
      <button
        type="button"
        class="turn"
        onClick={() => onChange(turned(order))}
        aria-label="Turn the swap round"
      >
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M6 3v13m0 0-3-3m3 3 3-3M14 17V4m0 0-3 3m3-3 3 3" />
        </svg>
      </button>
      <ReceiveSide order={order} onChange={onChange} quote={quote} />
    </fieldset>
  )
}
