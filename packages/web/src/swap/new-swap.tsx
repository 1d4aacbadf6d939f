import type { ChainEntry } from '@geoswap/sdk'
import { useEffect, useRef, useState } from 'preact/hooks'
import { decimalMark } from '../amount-text.ts'
import { formatUnits } from '../amounts.ts'
import { explain } from '../explain.ts'
import { ActionButton, useFocusRescue } from '../parts/focus.tsx'
import { NavLink } from '../parts/links.tsx'
import { Notice, Problem } from '../parts/notice.tsx'
import { go, hrefOf, replace, useRoute } from '../route.ts'
import { type Catalog, chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { keep, readStored } from '../storage.ts'
import { isSent, useWay } from '../wallets/way-note.tsx'
import { keyOf, useActiveSwap } from './active.ts'
import { ActiveSwapView } from './active-swap-view.tsx'
import { useFunds } from './funds.tsx'
import {
  firstOrder,
  isServed,
  namesOf,
  type Order,
  type OrderNames,
  orderNamed,
  toRequest,
  unknownIn,
} from './order.ts'
import { OrderForm } from './order-form.tsx'
import { QuotePanel } from './quote-panel.tsx'
import { Review } from './review.tsx'
import { usePreparation } from './use-preparation.ts'
import { type QuoteState, quoteIn, useQuote } from './use-quote.ts'
import { gasShortfall, shortfall } from './words.ts'

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
      <ActionButton class="primary wide" onClick={onConnect} isSubmit>
        Connect wallet
      </ActionButton>
    )
  const isReady = words === undefined && work === undefined && hasQuote
  return (
    <>
      <ActionButton class="primary wide" isDisabled={!isReady} onClick={onStart} isSubmit>
        {work ?? words ?? 'Review the swap'}
      </ActionButton>
      <p class="unseen" role="status">
        {work ?? words}
      </p>
    </>
  )
}

const NAME = 'order'
const TYPING_MS = 300

/** The order of the form and its address, which name each other. */
function useOrder() {
  const { catalog } = useSession()
  const { query } = useRoute()
  const [order, setOrder] = useState(() => readOrder(catalog, query))
  const [unknown, setUnknown] = useState(() => unknownIn(queried(query), catalog))
  const seen = useRef(query)
  const names = namesOf(order, catalog)
  const key = keyOfNames(names)
  const named = keyOfNames(queried(query))
  // A key may be typed between the renaming of the address and its effect.
  const written = useRef(named)
  useEffect(() => {
    const isOther = seen.current !== query && query.has('from') && named !== written.current
    seen.current = query
    if (named === key) return undefined
    if (isOther) return setOrder(readOrder(catalog, query))
    const timer = setTimeout(() => {
      written.current = key
      replace(hrefOf('swap', names))
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [query, key])
  const change = (next: Order) => {
    keep(NAME, next)
    setOrder(next)
    setUnknown([])
  }
  return { order, change, names, key, isNamed: named === key, unknown }
}

const REVIEW = 'review'
const isReview = (query: URLSearchParams) => query.get('step') === REVIEW

type Reviewing = { isNamed: boolean; start: (() => Promise<void>) | undefined; stop(): void }

/**
 * The review follows its address: it starts when the address names it and the order, which is complete, and ends when
 * the address no longer does.
 */
function useReview(names: OrderNames, { isNamed, start, stop }: Reviewing) {
  const { query } = useRoute()
  const isAsked = isReview(query) && isNamed
  const run = useRef<{ isOver: boolean }>(undefined)
  const isOurs = useRef(false)
  const leave = () => {
    if (!isReview(new URLSearchParams(location.search))) return
    if (isOurs.current) history.back()
    else replace(hrefOf('swap', names))
  }
  useEffect(() => {
    if (!isAsked) {
      if (run.current?.isOver === false) stop()
      run.current = undefined
      return
    }
    if (run.current || !start) return
    const own = { isOver: false }
    run.current = own
    void start().then(() => {
      own.isOver = true
      if (run.current === own) leave()
    })
  }, [isAsked, start !== undefined])
  const enter = () => {
    replace(hrefOf('swap', names))
    isOurs.current = true
    go(hrefOf('swap', { ...names, step: REVIEW }))
  }
  return { enter, leave }
}

/** The order as a request, its price in the way that the wallet pays, and what is missing before a review. */
function useOffer(order: Order, { key, isAsking }: { key: string; isAsking: boolean }) {
  const { client, catalog, wallets } = useSession()
  const [limit, setLimit] = useState<{ key: string; maxEtaSeconds: number | undefined }>()
  const named = toRequest(order, { catalog, owners: wallets.used, mark: decimalMark })
  // A speed is chosen for one order: another one is quoted at the cheaper speed again.
  const maxEtaSeconds = limit?.key === key ? limit.maxEtaSeconds : undefined
  const request = typeof named === 'string' ? undefined : { ...named, maxEtaSeconds }
  const asked = useQuote(client, isAsking ? undefined : request)
  const origin = chainOf(catalog, order.originChain)
  const wallet = origin && wallets.used[origin.family]
  const signer = wallet?.signerFor(order.originChain)
  const input = tokenOf(catalog, order.originChain, order.inputToken)
  const way = useWay({ chain: origin, token: input, wallet, quote: asked.quote })
  const funds = useFunds(origin, input)
  const gas = useGas(isSent(way) ? origin : undefined)
  const findProblem = () => {
    if (typeof named === 'string') return named
    if (!input || !origin || !wallet) return undefined
    if (!signer) return `${wallet.name} does not work on ${origin.name}.`
    if (way === 'none') return `${wallet.name} cannot pay ${input.symbol} from ${origin.name}.`
    const amount = BigInt(named.amount)
    return shortfall(amount, funds.balance, input) ?? gasShortfall(amount, gas, input, origin.native)
  }
  const choose = (seconds: number | undefined) => setLimit({ key, maxEtaSeconds: seconds })
  return {
    request,
    problem: findProblem(),
    way,
    wallet,
    signer,
    input,
    funds,
    quoteState: { ...asked, quote: asked.quote && quoteIn(asked.quote, way) },
    speed: { choose, isLimited: maxEtaSeconds !== undefined },
  }
}

/** The order and its price side by side; then the review in the same place. */
function NewSwap() {
  const { wallets } = useSession()
  const { order, change, names, key, isNamed, unknown } = useOrder()
  const { phase, start, startDeposit, reset } = usePreparation()
  useFocusRescue(phase.kind)
  const offer = useOffer(order, { key, isAsking: phase.kind === 'asking' })
  const { request, problem, quoteState, way, wallet, signer, input, funds, speed } = offer
  const hasQuote = quoteState.quote !== undefined && !quoteState.isStale && way !== 'asking'
  const isReady = problem === undefined && request !== undefined && signer !== undefined && hasQuote
  const review = useReview(names, {
    isNamed,
    start: isReady ? () => start({ request, order: key, signer, funds }) : undefined,
    stop: reset,
  })
  if (phase.kind === 'asking') return <Review phase={phase} onDecline={review.leave} />
  const changeOrder = (next: Order) => {
    change(next)
    // An error of the previous order does not apply to this one.
    if (phase.kind === 'form' && phase.error) reset()
  }
  const error = phase.kind === 'form' ? (phase.error ?? quoteState.error) : undefined
  return (
    <div class="columns">
      <section class="card" aria-labelledby="swap-title">
        <h1 id="swap-title">Swap</h1>
        <OtherSwap />
        {unknown.length > 0 && (
          <Notice tone="warn">
            <p>This service does not swap {unknown.join(' or ')}.</p>
          </Notice>
        )}
        <form class="order-form">
          <OrderForm
            order={order}
            onChange={changeOrder}
            state={quoteState}
            way={way}
            funds={funds}
            isBusy={phase.kind === 'working'}
          />
          <StartButton
            words={problem}
            work={phase.kind === 'working' ? phase.words : undefined}
            hasWallet={wallet !== undefined}
            hasQuote={hasQuote}
            onConnect={wallets.choose}
            onStart={review.enter}
          />
        </form>
        {request && takesDeposit(quoteState) && (
          <ActionButton
            class="secondary wide"
            isDisabled={phase.kind === 'working'}
            onClick={() => startDeposit({ request, order: key })}
          >
            Pay by a transfer instead
          </ActionButton>
        )}
        {error ? <Problem explained={explain(error, { input })} /> : null}
        {error && speed.isLimited ? (
          <button type="button" class="secondary" onClick={() => speed.choose(undefined)}>
            Take the slower speed
          </button>
        ) : null}
      </section>
      <QuotePanel order={order} state={quoteState} onSpeed={speed.choose} />
    </div>
  )
}

/** The way to the swap of this tab, which goes on beside the order. */
function OtherSwap() {
  const { catalog } = useSession()
  const request = useActiveSwap()?.request
  const chain = request && chainOf(catalog, request.originChain)
  const input = request && tokenOf(catalog, request.originChain, request.inputToken)
  if (!chain || !input) return null
  return (
    <Notice>
      <p>
        This tab has a swap of {formatUnits(request.amount, input)} on {chain.name}.
      </p>
      <NavLink href={hrefOf('swap')}>Show the swap</NavLink>
    </Notice>
  )
}

/** The coin of the wallet for gas, if it has to pay some. */
function useGas(chain: ChainEntry | undefined): bigint | undefined {
  const { catalog } = useSession()
  return useFunds(chain, chain && tokenOf(catalog, chain.chainId, chain.native.address)).balance
}

const takesDeposit = ({ quote }: QuoteState) =>
  quote?.originMethods?.some(({ method }) => method === 'deposit') ?? false

const queried = (query: URLSearchParams): OrderNames => ({
  from: query.get('from') ?? '',
  to: query.get('to') ?? '',
  amount: query.get('amount') ?? '',
})

/** From the address, with what was typed last beside it, else what was typed last, else the first one. */
function readOrder(catalog: Catalog, query: URLSearchParams): Order {
  const stored = readStored<Order>(NAME)
  const kept =
    stored && isServed(stored, catalog) ? { ...stored, slippage: stored.slippage ?? '' } : undefined
  const named = orderNamed(queried(query), catalog)
  if (!named || !kept) return named ?? kept ?? firstOrder(catalog)
  const isKept =
    Object.values(namesOf(named, catalog)).join() === Object.values(namesOf(kept, catalog)).join()
  return isKept ? kept : named
}

const keyOfNames = ({ from, to, amount }: OrderNames) => [from, to, amount].join()

/** One swap at a time: the current one, or by the address of another order the next one beside it. */
export function SwapView() {
  const active = useActiveSwap()
  const { query } = useRoute()
  useFocusRescue(active && keyOf(active))
  const isNext =
    active?.swapId !== undefined && query.has('from') && keyOfNames(queried(query)) !== active.order
  return active && !isNext ? <ActiveSwapView key={keyOf(active)} active={active} /> : <NewSwap />
}
