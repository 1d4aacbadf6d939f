import { GeoswapError, type StatusReply } from '@geoswap/sdk'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { formatExact, formatUnits, shorten } from '../amounts.ts'
import { explain } from '../explain.ts'
import type { BatchState } from '../families/batch.ts'
import type { Wallet } from '../families/family.ts'
import { Countdown, timeOf, useNow } from '../parts/countdown.tsx'
import { ActionButton, useFocus } from '../parts/focus.tsx'
import { NavLink } from '../parts/links.tsx'
import { Notice, Problem } from '../parts/notice.tsx'
import { Copyable, Row } from '../parts/row.tsx'
import { ReturnedRows, SwapProgress, useSwapEvents } from '../progress/swap-progress.tsx'
import { hrefOf } from '../route.ts'
import { chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import {
  type ActiveSwap,
  askToPay,
  isTooLate,
  keyOf,
  type Payment,
  type StoredPayment,
  setActiveSwap,
  useBatch,
  usePayment,
} from './active.ts'
import { rememberOperation } from './operation.ts'
import { releaseSignature, releaseUnasked } from './signatures.ts'
import { paymentWords } from './words.ts'

/** Sends the submission until its outcome is known; after a reload it sends the same one again. */
function useSubmission(active: ActiveSwap, { isAsking, error: unpaid }: Payment) {
  const { client } = useSession()
  const [error, setError] = useState<unknown>()
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    const { submission, swapId } = active
    // With a payment it is sent by `askToPay`; here only after a reload.
    if (swapId !== undefined || !submission || isAsking || unpaid) return undefined
    const controller = new AbortController()
    const { signal } = controller
    setError(undefined)
    client.submit(submission, { signal }).then(
      ({ swapId }) => {
        setActiveSwap({ ...active, swapId })
        rememberOperation(swapId, active.operation)
      },
      (reason: unknown) => signal.aborted || setError(reason),
    )
    return () => controller.abort()
  }, [client, active, attempt, isAsking])
  return {
    error: active.swapId === undefined ? (error ?? unpaid) : undefined,
    askAgain: useCallback(() => setAttempt((count) => count + 1), []),
  }
}

type Props = { active: ActiveSwap; deposit: NonNullable<ActiveSwap['deposit']>; swap: StatusReply }

/** The transfer that the swap waits for: the address that this browser has computed, and the exact amount. */
function DepositPanel({ active, deposit, swap }: Props) {
  const { catalog } = useSession()
  const { originChain, inputToken, walletAddress } = active.request
  const chain = chainOf(catalog, originChain)
  const token = tokenOf(catalog, originChain, inputToken)
  if (!chain || !token) return null
  const { address, amount, until, openedAt } = deposit
  const received = BigInt(swap.deposit?.received ?? 0)
  const missing = BigInt(amount) - received
  const seconds = Math.round((Date.parse(until) - openedAt) / 1_000)
  return (
    <>
      <dl class="rows">
        <Row name={`Send exactly, in ${token.symbol}`}>
          <Copyable text={formatExact(missing > 0n ? missing : 0n, token.decimals)} label="amount" whole />
        </Row>
        <Row name={`To this address on ${chain.name}`}>
          <Copyable text={address} label="deposit address" whole />
        </Row>
        {!token.native && (
          <Row name="Token">
            <Copyable text={token.address} label="token" />
          </Row>
        )}
        <Row name={`By ${timeOf(Date.parse(until) / 1_000)}`}>
          <Countdown until={until} whole={seconds} />
        </Row>
        {received > 0n && <Row name="Received">{formatUnits(received, token)}</Row>}
      </dl>
      <p class="prose">
        From any wallet or exchange, in one transfer. Too little, too late or another token is not swapped and
        goes back to <span class="mono">{shorten(walletAddress)}</span>; so does whatever is too much, after{' '}
        {timeOf(Date.parse(until) / 1_000)}.
      </p>
    </>
  )
}

/** The wallet that pays; undefined if it is not connected. */
function usePayer({ request: { originChain, walletAddress } }: ActiveSwap): Wallet | undefined {
  const { catalog, wallets } = useSession()
  const chain = chainOf(catalog, originChain)
  const used = chain && wallets.used[chain.family]
  return used?.address === walletAddress ? used : undefined
}

type PaymentPanelProps = {
  active: ActiveSwap
  terms: StoredPayment
  payment: Payment
  wallet: Wallet | undefined
  batch: BatchState | undefined
}

/** The transaction of the wallet that the swap waits for. */
function PaymentPanel({ active, terms, payment, wallet, batch }: PaymentPanelProps) {
  const { client, catalog } = useSession()
  const { originChain, inputToken } = active.request
  const chain = chainOf(catalog, originChain)
  const token = tokenOf(catalog, originChain, inputToken)
  const isLate = isTooLate(terms, useNow())
  if (!chain || !token) return null
  const signer = wallet?.signerFor(originChain)
  const { error, ...known } = payment
  const { code, message, advice } = explain(error)
  const problem = error ? (code === 'ERROR' ? message : `${message} ${advice}`) : undefined
  const { words, canAsk } = paymentWords({ ...known, wallet: wallet?.name, isLate, problem, batch })
  return (
    <>
      <dl class="rows">
        <Row name={`To send on ${chain.name}`}>{formatUnits(terms.amount, token)}</Row>
        <Row name="Sent to">
          <Copyable text={terms.to} label="address" />
        </Row>
        <Row name="By">{timeOf(terms.until)}</Row>
      </dl>
      <Notice tone={batch === 'failed' ? 'bad' : error || known.wasAsked || isLate ? 'warn' : 'plain'}>
        <p>{code === 'PAYMENT_ASKED' ? problem : words}</p>
        {canAsk && error ? <p class="fine">{code}</p> : null}
      </Notice>
      {canAsk && signer && (
        <ActionButton class="primary wide" onClick={() => void askToPay(client, active, signer)}>
          Ask {wallet?.name} to send it
        </ActionButton>
      )}
    </>
  )
}

/** Where a transaction goes that did not come in time. */
function LateNotice({ payment: { wasAsked, isSent } }: { payment: Payment }) {
  return (
    <Notice>
      <p>
        {wasAsked || isSent
          ? 'If the wallet still sends its transaction, it is not swapped: all of it comes back to the wallet.'
          : 'The wallet was not asked, or said no: nothing was sent.'}
      </p>
    </Notice>
  )
}

/** A swap from its submission to its end. */
export function ActiveSwapView({ active }: { active: ActiveSwap }) {
  const payment = usePayment(active)
  const { error, askAgain } = useSubmission(active, payment)
  const { swap, error: lost } = useSwapEvents(active.swapId)
  const { walletAddress, recipient = walletAddress, inputToken, outputToken } = active.request
  const isOver = swap !== undefined && swap.status !== 'pending'
  const isUnknown = isRefusal(lost)
  const heading = useFocus(keyOf(active))
  const isAwaited = swap?.substatus === 'awaitingDeposit'
  const isSettled = swap?.status === 'settled'
  const payer = usePayer(active)
  const batch = useBatch(active, payer, isAwaited)
  useEffect(() => {
    if (isSettled) releaseSignature(active)
  }, [isSettled, active.request, active.lockableUntil])
  const leave = () => {
    if (active.payment) releaseUnasked(active)
    setActiveSwap(undefined)
  }
  if (error) return <Unsubmitted error={error} active={active} onAgain={askAgain} onLeave={leave} />
  return (
    <section class="card progress" aria-labelledby="progress-title">
      <h1 id="progress-title" ref={heading} tabIndex={-1}>
        {isOver ? 'Your swap' : isAwaited ? awaitedTitle(active, batch) : 'Your swap is under way'}
      </h1>
      {lost ? <Problem explained={explain(lost)} /> : null}
      {isAwaited && active.deposit && <DepositPanel active={active} deposit={active.deposit} swap={swap} />}
      {isAwaited && active.payment && (
        <PaymentPanel active={active} terms={active.payment} payment={payment} wallet={payer} batch={batch} />
      )}
      {active.payment && swap?.failure?.code === 'DEPOSIT_MISSING' && <LateNotice payment={payment} />}
      {isUnknown ? null : swap ? (
        <SwapProgress swap={swap} terms={{ walletAddress, recipient, inputToken, outputToken }} />
      ) : (
        <p class="loading" role="status">
          Sending it to the service…
        </p>
      )}
      {swap?.deposit?.returned && (
        <dl class="rows">
          <ReturnedRows swap={swap} />
        </dl>
      )}
      <div class="actions">
        {(isOver || isUnknown || isAwaited) && (
          <button type="button" class={isAwaited ? 'secondary' : 'primary'} onClick={leave}>
            New swap
          </button>
        )}
        {active.swapId && (
          <NavLink href={hrefOf('explore', { swap: active.swapId })} class="button secondary">
            Details
          </NavLink>
        )}
      </div>
    </section>
  )
}

function awaitedTitle({ payment, paidBy }: ActiveSwap, batch: BatchState | undefined): string {
  if (!payment) return 'Send the transfer'
  if (batch === 'failed') return 'The payment failed'
  return paidBy === undefined ? 'Pay for your swap' : 'Your swap is under way'
}

type UnsubmittedProps = { error: unknown; active: ActiveSwap; onAgain(): void; onLeave(): void }

/** It is unknown whether the submission arrived, or the service has refused it. */
function Unsubmitted({ error, active, onAgain, onLeave }: UnsubmittedProps) {
  const isRefused = isRefusal(error)
  // A wallet that pays by a transaction was not asked for it yet.
  const isUnpaid = active.payment !== undefined
  const heading = useFocus(error)
  return (
    <section class="card narrow" aria-labelledby="unsubmitted-title">
      <h1 id="unsubmitted-title" ref={heading} tabIndex={-1}>
        {isRefused ? 'The service refused the swap' : 'Not known yet'}
      </h1>
      <Problem explained={explain(error, { isUnpaid })} />
      {isUnpaid && (
        <Notice>
          <p>The wallet was not asked for its transaction: nothing was sent.</p>
        </Notice>
      )}
      {isRefused && !isUnpaid && (
        <Notice>
          <p>
            By the service's word nothing was taken. Your signature can be used until{' '}
            {timeOf(active.lockableUntil ?? 0)} at the latest, so the page does not sign this swap again
            before the chain says that it is too late for the first.
          </p>
        </Notice>
      )}
      <div class="actions">
        {isRefused || isUnpaid ? (
          <button type="button" class="primary" onClick={onLeave}>
            Start again
          </button>
        ) : (
          <button type="button" class="primary" onClick={onAgain}>
            Ask again
          </button>
        )}
      </div>
    </section>
  )
}

/** True if the service has given a final answer. */
function isRefusal(error: unknown): boolean {
  return error instanceof GeoswapError && error.status >= 400 && error.status < 500
}
