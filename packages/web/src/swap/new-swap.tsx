import { useState } from 'preact/hooks'
import { explain } from '../explain.ts'
import { Problem } from '../parts/notice.tsx'
import { chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { keep, readStored } from '../storage.ts'
import { firstOrder, isServed, type Order, toRequest } from './order.ts'
import { OrderForm } from './order-form.tsx'
import { QuotePanel } from './quote-panel.tsx'
import { Review } from './review.tsx'
import { usePreparation } from './use-preparation.ts'
import { useQuote } from './use-quote.ts'

const NAME = 'order'

/** The order and its price side by side; then the review in the same place. */
export function NewSwap() {
  const { client, catalog, wallets } = useSession()
  const [order, setOrder] = useState(() => {
    const kept = readStored<Order>(NAME)
    return kept && isServed(kept, catalog) ? kept : firstOrder(catalog)
  })
  const { phase, start, reset } = usePreparation()
  const request = toRequest(order, catalog, wallets.used)
  const isComplete = typeof request !== 'string'
  const quoteState = useQuote(client, isComplete && phase.kind !== 'asking' ? request : undefined)
  const wallet = wallets.used[chainOf(catalog, order.originChain)?.family ?? 'evm']
  const input = tokenOf(catalog, order.originChain, order.inputToken)
  const change = (next: Order) => {
    keep(NAME, next)
    setOrder(next)
    // An error of the previous order does not apply to this one.
    if (phase.kind === 'form' && phase.error) reset()
  }

  if (phase.kind === 'asking' && isComplete)
    return <Review request={request} phase={phase} onDecline={reset} />
  const isWorking = phase.kind === 'working'
  const error = phase.kind === 'form' ? (phase.error ?? quoteState.error) : undefined
  return (
    <div class="columns">
      <section class="card" aria-labelledby="swap-title">
        <h1 id="swap-title">Swap</h1>
        <OrderForm order={order} onChange={change} quote={quoteState.quote} isBusy={isWorking} />
        <button
          type="button"
          class="primary wide"
          disabled={!isComplete || !wallet || !quoteState.quote || quoteState.isStale || isWorking}
          onClick={() => isComplete && wallet && start(request, wallet)}
        >
          {isWorking ? phase.words : isComplete ? 'Review the swap' : request}
        </button>
        {error ? <Problem explained={explain(error, { input })} /> : null}
      </section>
      <QuotePanel order={order} state={quoteState} />
    </div>
  )
}
