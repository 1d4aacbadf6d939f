import type { QuoteRequest } from '@geoswap/sdk'
import { formatUnits } from '../amounts.ts'
import { Copyable } from '../parts/copyable.tsx'
import { Countdown } from '../parts/countdown.tsx'
import { Row } from '../parts/row.tsx'
import { timeOf } from '../parts/time.ts'
import { Usd } from '../parts/usd.tsx'
import { chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { deadlinesOf } from './operation.ts'
import type { Approval } from './prepare.ts'
import { RawFields } from './raw-fields.tsx'
import { wayTerms } from './words.ts'

type Props = { approval: Extract<Approval, { kind: 'operation' }>; request: QuoteRequest }

const OP_SECONDS = 120

/** The operation that the wallet signs, in words. The SDK has checked that it matches quote and order. */
export function OperationTerms({ approval, request }: Props) {
  const { catalog } = useSession()
  const { build, quote, method, signed } = approval
  const input = tokenOf(catalog, request.originChain, request.inputToken)
  const output = tokenOf(catalog, request.destinationChain, request.outputToken)
  const { fill, refund } = deadlinesOf(build.operation)
  if (!input || !output) return null
  const way = wayTerms(method, input.symbol)
  return (
    <>
      <dl class="rows big">
        <Row name={`You pay on ${chainOf(catalog, request.originChain)?.name}`}>
          {formatUnits(quote.input, input)} <Usd text={quote.inputUsd} />
        </Row>
        <Row name={`You receive on ${chainOf(catalog, request.destinationChain)?.name}`}>
          {formatUnits(quote.output, output)} <Usd text={quote.outputUsd} />
        </Row>
        <Row name="Guaranteed minimum">{formatUnits(quote.minOutput, output)}</Row>
        <Row name="Paid to">
          <Copyable text={request.recipient ?? request.walletAddress} label="recipient" />
        </Row>
        {fill && (
          <Row name="Delivered by">
            {timeOf(fill)}, or your {input.symbol} goes back
          </Row>
        )}
        {refund && <Row name="Refundable by anyone after">{timeOf(refund)}</Row>}
        <Row name="Sign within">
          <Countdown until={build.expiresAt} whole={OP_SECONDS} />
        </Row>
      </dl>
      <p class="checked">
        Checked in this browser:{' '}
        {build.origin === 'evm'
          ? 'the hash was computed here from these terms'
          : 'these terms were read from the bytes of the transaction'}
        , and they are what you asked for.
      </p>
      {way && <p class="prose">{way}</p>}
      <RawFields build={build} signed={signed} />
    </>
  )
}
