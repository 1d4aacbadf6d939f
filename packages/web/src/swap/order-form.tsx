import { useId, useState } from 'preact/hooks'
import { decimalMark, writeAmount } from '../amount-text.ts'
import type { Balance } from '../chain/balance.ts'
import { tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import type { Way } from '../wallets/way-note.tsx'
import { type Order, SLIPPAGES, slippageNote, turned } from './order.ts'
import { PaySide, ReceiveSide } from './side-fields.tsx'
import type { QuoteState } from './use-quote.ts'

type SlippageFieldProps = { value: string; onChange(text: string): void }

/** How much less than the price the user accepts at worst. */
function SlippageField({ value, onChange }: SlippageFieldProps) {
  const id = useId()
  const note = slippageNote(value)
  const [isOpen, setOpen] = useState(note !== undefined)
  return (
    <details class="slippage" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Slippage: {value === '' ? 'automatic' : `${value.replace(/\s*%$/, '')} %`}</summary>
      <fieldset class="slippages" aria-label="Slippage">
        {SLIPPAGES.map((each) => (
          <button
            key={each}
            type="button"
            class="choice"
            aria-pressed={each === value}
            onClick={() => onChange(each)}
          >
            {each === '' ? 'Auto' : `${each} %`}
          </button>
        ))}
        <label>
          <span class="unseen">Own slippage in percent</span>
          <input
            inputMode="decimal"
            autoComplete="off"
            placeholder="Own, %"
            aria-describedby={id}
            value={value}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
        </label>
      </fieldset>
      <p class="fine" id={id} role="status">
        {note ?? 'If the output would be lower than this allows, your input comes back instead.'}
      </p>
    </details>
  )
}

type Props = {
  order: Order
  onChange(order: Order): void
  state: QuoteState
  way: Way
  funds: Balance
  isBusy: boolean
}

/** The input and the output of the swap. */
export function OrderForm({ order, onChange, state, way, funds, isBusy }: Props) {
  const { catalog } = useSession()
  const output = tokenOf(catalog, order.destinationChain, order.outputToken)
  // Not known before there is a price.
  const received =
    output && state.quote && !state.isStale
      ? writeAmount(BigInt(state.quote.output), { decimals: output.decimals, mark: decimalMark })
      : ''
  return (
    <fieldset class="order" disabled={isBusy}>
      <legend class="unseen">Order</legend>
      <PaySide
        order={order}
        onChange={onChange}
        quote={state.isStale ? undefined : state.quote}
        way={way}
        funds={funds}
      />
      <button
        type="button"
        class="turn"
        onClick={() => onChange(turned(order, received))}
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
