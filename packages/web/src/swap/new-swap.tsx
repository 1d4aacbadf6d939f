import { useState } from 'preact/hooks'
import { explain } from '../explain.ts'
import { decimalMark } from '../language.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { Problem } from '../parts/notice.tsx'
import { useFocusRescue } from '../parts/use-focus.ts'
import { useRoute } from '../route.ts'
import { type Catalog, chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { keep, readStored } from '../storage.ts'
import { keyOf, useActiveSwap } from './active.ts'
import { ActiveSwapView } from './active-swap-view.tsx'
import { useFunds } from './funds.tsx'
import { firstOrder, isServed, type Order, orderPaying, toRequest } from './order.ts'
import { OrderForm } from './order-form.tsx'
import { QuotePanel } from './quote-panel.tsx'
import { Review } from './review.tsx'
import { usePreparation } from './use-preparation.ts'
import { type QuoteState, useQuote } from './use-quote.ts'
import { shortfall } from './words.ts'

type Props = {
  /** Says what is missing before the swap can be reviewed. */
  words: string | undefined
  /** Says what the page is doing. */
  work: string | undefined
  hasWallet: boolean
  hasQuote: boolean
  onConnect(): void
  onStart(): void
}

/** The next step: connect a wallet, complete the order, or review it. */
function StartButton({ words, work, hasWallet, hasQuote, onConnect, onStart }: Props) {
  if (!hasWallet)
    return (
      <ActionButton class="primary wide" onClick={onConnect}>
        Connect wallet
      </ActionButton>
    )
  const isReady = words === undefined && work === undefined && hasQuote
  return (
    <>
      <ActionButton class="primary wide" isDisabled={!isReady} onClick={onStart}>
        {work ?? words ?? 'Review the swap'}
      </ActionButton>
      <p class="unseen" role="status">
        {work ?? words}
      </p>
    </>
  )
}

const NAME = 'order'

/** The order and its price side by side; then the review in the same place. */
function NewSwap() {
  const { client, catalog, wallets } = useSession()
  const { query } = useRoute()
  const [order, setOrder] = useState(() => readOrder(catalog, query))
  const { phase, start, startDeposit, reset } = usePreparation()
  useFocusRescue(phase.kind)
  const request = toRequest(order, { catalog, owners: wallets.used, mark: decimalMark })
  const isComplete = typeof request !== 'string'
  const quoteState = useQuote(client, isComplete && phase.kind !== 'asking' ? request : undefined)
  const origin = chainOf(catalog, order.originChain)
  const wallet = wallets.used[origin?.family ?? 'evm']
  const input = tokenOf(catalog, order.originChain, order.inputToken)
  const funds = useFunds(origin, input)
  const change = (next: Order) => {
    keep(NAME, next)
    setOrder(next)
    // An error of the previous order does not apply to this one.
    if (phase.kind === 'form' && phase.error) reset()
  }

  if (phase.kind === 'asking') return <Review phase={phase} onDecline={reset} />
  const missing = isComplete && input ? shortfall(BigInt(request.amount), funds.balance, input) : undefined
  const error = phase.kind === 'form' ? (phase.error ?? quoteState.error) : undefined
  return (
    <div class="columns">
      <section class="card" aria-labelledby="swap-title">
        <h1 id="swap-title">Swap</h1>
        <OrderForm
          order={order}
          onChange={change}
          state={quoteState}
          funds={funds}
          isBusy={phase.kind === 'working'}
        />
        <StartButton
          words={isComplete ? missing : request}
          work={phase.kind === 'working' ? phase.words : undefined}
          hasWallet={wallet !== undefined}
          hasQuote={quoteState.quote !== undefined && !quoteState.isStale}
          onConnect={wallets.choose}
          onStart={() => isComplete && wallet && start({ request, wallet, funds })}
        />
        {isComplete && takesDeposit(quoteState) && (
          <ActionButton
            class="secondary wide"
            isDisabled={phase.kind === 'working'}
            onClick={() => startDeposit(request)}
          >
            Pay by a transfer instead
          </ActionButton>
        )}
        {error ? <Problem explained={explain(error, { input })} /> : null}
      </section>
      <QuotePanel order={order} state={quoteState} />
    </div>
  )
}

const takesDeposit = ({ quote }: QuoteState) =>
  quote?.originMethods?.some(({ method }) => method === 'deposit') ?? false

/** From the link, else what was typed last, else the first one. */
function readOrder(catalog: Catalog, query: URLSearchParams): Order {
  const linked = orderPaying(catalog, Number(query.get('chain')), query.get('token') ?? '')
  const kept = readStored<Order>(NAME)
  if (linked) return linked
  return kept && isServed(kept, catalog) ? { ...kept, slippage: kept.slippage ?? '' } : firstOrder(catalog)
}

/** One swap at a time: the current one, or the next one. */
export function SwapView() {
  const active = useActiveSwap()
  useFocusRescue(active && keyOf(active))
  return active ? <ActiveSwapView key={keyOf(active)} active={active} /> : <NewSwap />
}
