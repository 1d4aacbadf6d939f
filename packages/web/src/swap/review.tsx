import type { Approval, AuthorizationFields, Build, QuoteRequest, ToSign } from '@geoswap/sdk'
import { useState } from 'preact/hooks'
import { formatBps, formatUnits } from '../amounts.ts'
import { Countdown, timeOf, useNow } from '../parts/countdown.tsx'
import { ActionButton, useFocus } from '../parts/focus.tsx'
import { Notice } from '../parts/notice.tsx'
import { Copyable, Row, Usd } from '../parts/row.tsx'
import { chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { isTooLate } from './active.ts'
import { lossOf, needsConfirmation } from './loss.ts'
import { deadlinesOf, fieldsOf } from './operation.ts'
import type { Phase } from './use-preparation.ts'
import { etaWords, otherSpeed, wayTerms } from './words.ts'

type LossConfirmationProps = {
  loss: number | undefined
  isConfirmed: boolean
  onChange(isConfirmed: boolean): void
}

/** A loss that is probably a mistake is signed only after a deliberate second step. */
function LossConfirmation({ loss, isConfirmed, onChange }: LossConfirmationProps) {
  const words =
    loss === undefined
      ? 'The value of this swap is not known: it may be much lower than what you pay.'
      : `You lose ${formatBps(loss)} of the value.`
  return (
    <Notice tone="bad">
      <p>
        <strong>{words}</strong>
      </p>
      <label class="check">
        <input
          type="checkbox"
          checked={isConfirmed}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
        <span>
          {loss === undefined ? 'I accept an unknown value' : `I accept to lose ${formatBps(loss)}`}
        </span>
      </label>
    </Notice>
  )
}

/** An EIP-7702 authorization in words. It is needed once per wallet and chain. */
function AuthorizationTerms({ fields, request }: { fields: AuthorizationFields; request: QuoteRequest }) {
  const { catalog } = useSession()
  const name = chainOf(catalog, fields.chainId)?.name ?? `chain ${fields.chainId}`
  return (
    <>
      <p class="prose">
        This is the wallet's first swap on {name}. It signs once that its account there runs the service's
        contract. The contract can only transfer the amounts that the wallet signs. No gas coin is needed.
      </p>
      <dl class="rows">
        <Row name="Wallet">
          <Copyable text={request.walletAddress} label="wallet" />
        </Row>
        <Row name="Contract">
          <Copyable text={fields.address} label="contract" />
        </Row>
        <Row name="Only on">
          {name} <span class="fine">chain {fields.chainId}</span>
        </Row>
        <Row name="Account nonce">{fields.nonce}</Row>
      </dl>
    </>
  )
}

/** The signed fields, and the bytes that the wallet receives. */
function RawFields({ build, toSign }: { build: Build; toSign: ToSign }) {
  return (
    <details>
      <summary>Everything that is {'payment' in toSign ? 'sent' : 'signed'}</summary>
      <dl class="raw">
        {[...fieldsOf(build.operation), bytesOf(toSign)].map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="mono">{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

/** A wallet signs the hash of an op as its typed data; of a token's typed data the fields say more. */
function bytesOf(toSign: ToSign): { name: string; value: string } {
  if ('transaction' in toSign) return { name: 'transaction', value: toSign.transaction }
  if ('payment' in toSign) {
    const { to, data, value } = toSign.payment.transaction
    return { name: 'transaction', value: `to ${to}, value ${value}, data ${data}` }
  }
  const { hash, typedData } = toSign
  if (!typedData || typedData.primaryType === 'GeoOp') return { name: 'hash', value: hash }
  return { name: 'typed data of the token', value: JSON.stringify(typedData.message) }
}

function checkedOf(toSign: ToSign): string {
  if ('transaction' in toSign) return 'these terms were read from the bytes of the transaction'
  if ('payment' in toSign) return 'the address and the transaction were computed here from these terms'
  return 'the hash was computed here from these terms'
}

type OperationTermsProps = { approval: Extract<Approval, { kind: 'operation' }>; request: QuoteRequest }

/** The operation that the wallet signs, in words. The SDK has checked that it matches quote and order. */
function OperationTerms({ approval, request }: OperationTermsProps) {
  const { catalog } = useSession()
  const { build, quote, method, toSign } = approval
  const input = tokenOf(catalog, request.originChain, request.inputToken)
  const output = tokenOf(catalog, request.destinationChain, request.outputToken)
  const { fill, refund } = deadlinesOf(build.operation)
  const payment = 'payment' in toSign ? toSign.payment : undefined
  const until = payment ? new Date(payment.until * 1_000).toISOString() : build.expiresAt
  const [whole] = useState(() => Math.max(1, Math.ceil((Date.parse(until) - Date.now()) / 1_000)))
  if (!input || !output) return null
  const way = wayTerms(method, input.symbol)
  const speed = otherSpeed(quote, request.maxEtaSeconds)
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
        <Row name="Arrives in about">{etaWords(quote.etaSeconds)}</Row>
        {speed && <Row name="Speed">{speed}</Row>}
        {fill && (
          <Row name="Delivered by">
            {timeOf(fill)}, or your {input.symbol} goes back
          </Row>
        )}
        {refund && <Row name="Refundable by anyone after">{timeOf(refund)}</Row>}
        {payment && (
          <Row name="Sent to">
            <Copyable text={payment.to} label="address" />
          </Row>
        )}
        <Row name={payment ? `Send by ${timeOf(payment.until)}` : 'Sign within'}>
          <Countdown until={until} whole={whole} />
        </Row>
      </dl>
      <p class="checked">Checked in this browser: {checkedOf(toSign)}, and they are what you asked for.</p>
      {way && <p class="prose">{way}</p>}
      <RawFields build={build} toSign={toSign} />
    </>
  )
}

type Asking = Extract<Phase, { kind: 'asking' }>
type Props = {
  phase: Asking
  onDecline(): void
}

/** The decoded content to be signed, and the choice to decline. */
export function Review({ phase, onDecline }: Props) {
  const { request, approval, isAgreed, agree } = phase
  const isOperation = approval.kind === 'operation'
  const heading = useFocus(approval)
  const [isConfirmed, setConfirmed] = useState(false)
  const loss = useLoss(phase)
  const isAsked = isOperation && needsConfirmation(loss)
  const payment = isOperation && 'payment' in approval.toSign ? approval.toSign.payment : undefined
  const now = useNow()
  const isLate = payment !== undefined && isTooLate(payment, now)
  const title = payment
    ? 'Pay for this swap?'
    : isOperation
      ? 'Sign this swap?'
      : 'Allow this wallet to swap?'
  const act = payment ? 'Send and swap' : isOperation ? 'Sign and swap' : 'Sign the authorization'
  return (
    <section class="card narrow" aria-labelledby="review-title">
      <h1 id="review-title" ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {isOperation ? (
        <OperationTerms approval={approval} request={request} />
      ) : (
        <AuthorizationTerms fields={approval.fields} request={request} />
      )}
      {isAsked && <LossConfirmation loss={loss} isConfirmed={isConfirmed} onChange={setConfirmed} />}
      <div class="actions">
        <ActionButton
          class="primary"
          isDisabled={isAgreed || isLate || (isAsked && !isConfirmed)}
          onClick={agree}
        >
          {isAgreed ? 'Waiting for the wallet…' : isLate ? 'Too late for this price' : act}
        </ActionButton>
        <button type="button" class="secondary" onClick={onDecline}>
          Back, {payment ? 'send' : 'sign'} nothing
        </button>
      </div>
    </section>
  )
}

/** The loss of the quote that is to be signed, which may differ from the one in the form. */
function useLoss({ request, approval }: Asking): number | undefined {
  const { originChain, inputToken, destinationChain, outputToken } = request
  const { catalog } = useSession()
  const input = tokenOf(catalog, originChain, inputToken)
  const output = tokenOf(catalog, destinationChain, outputToken)
  return approval.kind === 'operation' && input && output ? lossOf(approval.quote, input, output) : undefined
}
