import type { ComponentChildren } from 'preact'
import type { Explained } from '../explain.ts'
import { useSession } from '../service/session.ts'

type Tone = 'plain' | 'good' | 'warn' | 'bad'

/** A notice. Screen readers announce errors at once. */
export function Notice({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) {
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  )
}

/** An error: what happened, what to do, and the request id for the operator. */
export function Problem({ explained, children }: { explained: Explained; children?: ComponentChildren }) {
  const { code, message, advice, requestId } = explained
  return (
    <Notice tone="bad">
      <p>
        <strong>{message}</strong> {advice}
      </p>
      <p class="fine">
        {code}
        {requestId && ` · ${requestId}`}
      </p>
      {children}
    </Notice>
  )
}

/** In place of content that needs a wallet. */
export function NoWallet({ words }: { words: string }) {
  const { wallets } = useSession()
  return (
    <div class="stack">
      <p class="prose">{words}</p>
      <button type="button" class="primary" onClick={wallets.choose}>
        Connect wallet
      </button>
    </div>
  )
}
