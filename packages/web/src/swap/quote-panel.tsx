import { plainText, type QuoteReply } from '@geoswap/sdk'
import { formatAmount, formatBps, formatUnits, rateOf } from '../amounts.ts'
import { Countdown } from '../parts/countdown.tsx'
import { Notice } from '../parts/notice.tsx'
import { Row } from '../parts/row.tsx'
import { Usd } from '../parts/usd.tsx'
import { chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { FeeList } from './fee-list.tsx'
import type { Order } from './order.ts'
import type { QuoteState } from './use-quote.ts'
import { refundTerms } from './words.ts'

const QUOTE_SECONDS = 30

/** The price and all its parts. */
export function QuotePanel({ order, state }: { order: Order; state: QuoteState }) {
  const { catalog } = useSession()
  const { quote, isStale } = state
  const input = tokenOf(catalog, order.originChain, order.inputToken)
  const output = tokenOf(catalog, order.destinationChain, order.outputToken)
  const origin = chainOf(catalog, order.originChain)
  if (!input || !output || !origin) return null
  const rate =
    quote && rateOf({ amount: BigInt(quote.input), ...input }, { amount: BigInt(quote.output), ...output })
  return (
    <section class={`card quote${isStale ? ' stale' : ''}`} aria-labelledby="quote-title" aria-busy={isStale}>
      <div class="quote-head">
        <h2 id="quote-title">Price</h2>
        {quote && !isStale && <Countdown until={quote.expiresAt} whole={QUOTE_SECONDS} />}
      </div>
      <dl class="rows">
        <Row name="You pay">
          <span class="unit">{quote ? formatUnits(quote.input, input) : '–'}</span>{' '}
          <Usd text={quote?.inputUsd} />
        </Row>
        <Row name="Rate">
          {rate === undefined
            ? '–'
            : `1 ${input.symbol} = ${formatAmount(rate, output.decimals)} ${output.symbol}`}
        </Row>
        <Row name="You receive">
          <span class="unit">{quote ? formatUnits(quote.output, output) : '–'}</span>{' '}
          <Usd text={quote?.outputUsd} />
        </Row>
        <Row name="In the worst case">
          {quote ? `${formatUnits(quote.minOutput, output)}, or your ${input.symbol} back` : '–'}
        </Row>
        <Row name="All costs together">{impactOf(quote)}</Row>
        <Row name="Arrives in about">{quote ? `${Math.max(1, Math.round(quote.etaSeconds))} s` : '–'}</Row>
      </dl>
      <h3>Fees, inside the price</h3>
      <FeeList quote={quote} order={order} />
      {quote?.warnings?.map(({ code, message }) => (
        <Notice key={code} tone="warn">
          <p>{plainText(message)}</p>
        </Notice>
      ))}
      <h3>If the swap fails</h3>
      <p class="prose">{refundTerms(origin.family, input.symbol)}</p>
    </section>
  )
}

function impactOf(quote: QuoteReply | undefined): string {
  if (quote?.priceImpactBps === undefined) return '–'
  return quote.priceImpactBps <= 0
    ? `${formatBps(-quote.priceImpactBps)} of the value`
    : `${formatBps(quote.priceImpactBps)} better than the reference`
}
