import type { Balance } from '../chain/use-balance.ts'
import { type Order, turned } from './order.ts'
import { PaySide } from './pay-side.tsx'
import { ReceiveSide } from './receive-side.tsx'
import { SlippageField } from './slippage-field.tsx'
import type { QuoteState } from './use-quote.ts'

type Props = {
  order: Order
  onChange(order: Order): void
  state: QuoteState
  funds: Balance
  isBusy: boolean
}

/** The input and the output of the swap. */
export function OrderForm({ order, onChange, state, funds, isBusy }: Props) {
  return (
    <fieldset class="order" disabled={isBusy}>
      <legend class="unseen">Order</legend>
      <PaySide
        order={order}
        onChange={onChange}
        quote={state.isStale ? undefined : state.quote}
        funds={funds}
      />
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
      <ReceiveSide order={order} onChange={onChange} quote={state.quote} />
      <SlippageField value={order.slippage} onChange={(slippage) => onChange({ ...order, slippage })} />
    </fieldset>
  )
}
