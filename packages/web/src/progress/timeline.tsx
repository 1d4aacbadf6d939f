import { TxLink } from '../parts/tx-link.tsx'
import { formatDuration, type Step } from './journey.ts'

const STATES = { done: 'done', now: 'happening now', ahead: 'still to come', bad: 'ended here' } as const

/** The past steps with their durations, and the expected ones. */
export function Timeline({ steps }: { steps: readonly Step[] }) {
  return (
    <ol class="timeline" aria-label="Progress">
      {steps.map(({ stage, title, state, at, tookMs, txHash, chainId }) => (
        <li key={`${stage} ${at}`} class={state}>
          <span class="step">
            {title} <span class="unseen">({STATES[state]})</span>
          </span>
          <span class="when">
            {at && <time dateTime={at}>{new Date(at).toLocaleTimeString()}</time>}
            {tookMs !== undefined && <span class="took">+{formatDuration(tookMs)}</span>}
          </span>
          {txHash && (
            <span class="tx">
              <TxLink hash={txHash} chainId={chainId} label={`transaction of ${title}`} />
            </span>
          )}
        </li>
      ))}
    </ol>
  )
}
