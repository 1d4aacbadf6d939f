import { plainText, type QuoteReply } from '@geoswap/sdk'
import { feeUsd, formatAmount, formatBps, formatUnits, formatUsd, rateOf } from '../amounts.ts'
import { Countdown } from '../parts/countdown.tsx'
import { Notice } from '../parts/notice.tsx'
import { Row, Usd } from '../parts/row.tsx'
import { chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import type { Order } from './order.ts'
import type { QuoteState } from './use-quote.ts'
import { etaWords, feeName, refundTerms, type SpeedChoice, speedChoices, speedNote } from './words.ts'

// One fewer than a quote has at most, so that the list does not jump when the first price arrives.
const PLACEHOLDERS = ['serviceFee', 'originNetwork', 'deliveryNetwork'] as const

/** Each part of the costs, in the input token. */
function FeeList({ quote, order }: { quote: QuoteReply | undefined; order: Order }) {
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

const QUOTE_SECONDS = 30

type SpeedFieldProps = { choices: readonly SpeedChoice[]; note: string; onSpeed: Props['onSpeed'] }

/** A large swap waits for finality, or pays for not waiting. */
function SpeedField({ choices, note, onSpeed }: SpeedFieldProps) {
  return (
    <fieldset class="speeds">
      <legend>Speed</legend>
      {choices.map(({ text, isChosen, maxEtaSeconds }) => (
        <button
          key={maxEtaSeconds ?? 0}
          type="button"
          class="choice"
          aria-pressed={isChosen}
          onClick={() => onSpeed(maxEtaSeconds)}
        >
          {text}
        </button>
      ))}
      <p class="fine">{note}</p>
    </fieldset>
  )
}

type Props = { order: Order; state: QuoteState; onSpeed(maxEtaSeconds: number | undefined): void }

/** The price and all its parts. */
export function QuotePanel({ order, state, onSpeed }: Props) {
  const { catalog } = useSession()
  const { quote, isStale } = state
  const input = tokenOf(catalog, order.originChain, order.inputToken)
  const output = tokenOf(catalog, order.destinationChain, order.outputToken)
  const origin = chainOf(catalog, order.originChain)
  if (!input || !output || !origin) return null
  const choices = quote ? speedChoices(quote, output) : []
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
        <Row name="Arrives in about">{quote ? etaWords(quote.etaSeconds) : '–'}</Row>
      </dl>
      {choices.length > 0 && quote && (
        <SpeedField
          choices={choices}
          note={speedNote(quote, { origin: origin.name, input })}
          onSpeed={onSpeed}
        />
      )}
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
