import { readRefundableOp } from '@geoswap/protocol'
import { useState } from 'preact/hooks'
import { Notice } from '../parts/notice.tsx'
import { useSession } from '../service/session.ts'
import { RefundButton } from './refund-button.tsx'
import { RefundCommand } from './refund-command.tsx'

type Props = { swapId: string; remembered: unknown }

/** The refund that anyone can send: with a button, or with a command if the page is unavailable. */
export function RefundPanel({ swapId, remembered }: Props) {
  const { settings } = useSession()
  const [pasted, setPasted] = useState('')
  const operation = remembered ?? parse(pasted)
  const op = operation === undefined ? undefined : readOp(operation)
  return (
    <details class="refund" open={remembered !== undefined}>
      <summary>Refund without the service</summary>
      <div class="stack">
        <p class="prose">
          After the signed deadline, anyone can make the escrow return the input to its wallet. That needs the
          signed operation, a node of the chain, and a little gas coin.
        </p>
        {remembered === undefined && (
          <label class="field">
            <span>The signed operation: the field operation of the build reply, as JSON</span>
            <textarea
              class="mono"
              rows={3}
              spellcheck={false}
              value={pasted}
              onInput={(event) => setPasted(event.currentTarget.value)}
            />
          </label>
        )}
        {remembered === undefined && pasted !== '' && !op && (
          <Notice tone="warn">
            <p>That is not the operation of a swap from an EVM chain.</p>
          </Notice>
        )}
        {op && <RefundButton op={op} rpcUrl={settings.rpcUrls[op.origin.chainId]} />}
        {op && <RefundCommand swapId={swapId} operation={operation} />}
      </div>
    </details>
  )
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

function readOp(operation: unknown) {
  try {
    return readRefundableOp(operation)
  } catch {
    return undefined
  }
}
