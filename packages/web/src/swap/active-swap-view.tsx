import { GeoswapError, type StatusReply } from '@geoswap/sdk'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { formatExact, formatUnits, shorten } from '../amounts.ts'
import { explain } from '../explain.ts'
import { rememberOperation } from '../explore/operations.ts'
import { Countdown, timeOf } from '../parts/countdown.tsx'
import { useFocus } from '../parts/focus.tsx'
import { NavLink } from '../parts/links.tsx'
import { Notice, Problem } from '../parts/notice.tsx'
import { Copyable, Row } from '../parts/row.tsx'
import { SwapProgress, useSwapEvents } from '../progress/swap-progress.tsx'
import { hrefOf } from '../route.ts'
import { chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { type ActiveSwap, keyOf, setActiveSwap } from './active.ts'
import { releaseSignature } from './signatures.ts'

/** Sends the submission until its outcome is known; after a reload it sends the same one again. */
function useSubmission(active: ActiveSwap): { error: unknown; askAgain(): void } {
  const { client } = useSession()
  const [error, setError] = useState<unknown>()
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    const { submission, swapId } = active
    if (swapId !== undefined || !submission) return undefined
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
  }, [client, active, attempt])
  return { error, askAgain: useCallback(() => setAttempt((count) => count + 1), []) }
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

/** A swap from its submission to its end. */
export function ActiveSwapView({ active }: { active: ActiveSwap }) {
  const { error, askAgain } = useSubmission(active)
  const { swap, error: lost } = useSwapEvents(active.swapId)
  const { walletAddress, recipient = walletAddress, inputToken, outputToken } = active.request
  const isOver = swap !== undefined && swap.status !== 'pending'
  const isUnknown = isRefusal(lost)
  const heading = useFocus(keyOf(active))
  const isAwaited = swap?.substatus === 'awaitingDeposit'
  const isSettled = swap?.status === 'settled'
  useEffect(() => {
    if (isSettled) releaseSignature(active.request)
  }, [isSettled, active.request])
  if (error) return <Unsubmitted error={error} active={active} onAgain={askAgain} />
  return (
    <section class="card progress" aria-labelledby="progress-title">
      <h1 id="progress-title" ref={heading} tabIndex={-1}>
        {isOver ? 'Your swap' : isAwaited ? 'Send the transfer' : 'Your swap is under way'}
      </h1>
      {lost ? <Problem explained={explain(lost)} /> : null}
      {isAwaited && active.deposit && <DepositPanel active={active} deposit={active.deposit} swap={swap} />}
      {isUnknown ? null : swap ? (
        <SwapProgress swap={swap} terms={{ walletAddress, recipient, inputToken, outputToken }} />
      ) : (
        <p class="loading" role="status">
          Sending it to the service…
        </p>
      )}
      <div class="actions">
        {(isOver || isUnknown || isAwaited) && (
          <button
            type="button"
            class={isAwaited ? 'secondary' : 'primary'}
            onClick={() => setActiveSwap(undefined)}
          >
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

type UnsubmittedProps = { error: unknown; active: ActiveSwap; onAgain(): void }

/** It is unknown whether the submission arrived, or the service has refused it. */
function Unsubmitted({ error, active, onAgain }: UnsubmittedProps) {
  const isRefused = isRefusal(error)
  const heading = useFocus(error)
  return (
    <section class="card narrow" aria-labelledby="unsubmitted-title">
      <h1 id="unsubmitted-title" ref={heading} tabIndex={-1}>
        {isRefused ? 'The service refused the swap' : 'Not known yet'}
      </h1>
      <Problem explained={explain(error)} />
      {isRefused && (
        <Notice>
          <p>
            By the service's word nothing was taken. Your signature can be used until{' '}
            {timeOf(active.lockableUntil ?? 0)} at the latest, so the page does not sign this swap again
            before the chain says that it is too late for the first.
          </p>
        </Notice>
      )}
      <div class="actions">
        {isRefused ? (
          <button type="button" class="primary" onClick={() => setActiveSwap(undefined)}>
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
