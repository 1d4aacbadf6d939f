import { GeoswapError } from '@geoswap/sdk'
import { useEffect } from 'preact/hooks'
import { explain } from '../explain.ts'
import { NavLink } from '../parts/nav-link.tsx'
import { Notice, Problem } from '../parts/notice.tsx'
import { timeOf } from '../parts/time.ts'
import { useFocus } from '../parts/use-focus.ts'
import { SwapProgress } from '../progress/swap-progress.tsx'
import { useSwapEvents } from '../progress/use-swap-events.ts'
import { hrefOf } from '../route.ts'
import { type ActiveSwap, keyOf, setActiveSwap } from './active.ts'
import { DepositPanel } from './deposit-panel.tsx'
import { releaseSignature } from './signatures.ts'
import { useSubmission } from './use-submission.ts'

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
