import { useState } from 'preact/hooks'
import { ActionButton } from '../parts/action-button.tsx'
import { useFocus } from '../parts/use-focus.ts'
import { tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { AuthorizationTerms } from './authorization-terms.tsx'
import { lossOf, needsConfirmation } from './loss.ts'
import { LossConfirmation } from './loss-confirmation.tsx'
import { OperationTerms } from './operation-terms.tsx'
import type { Phase } from './use-preparation.ts'

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
  return (
    <section class="card narrow" aria-labelledby="review-title">
      <h1 id="review-title" ref={heading} tabIndex={-1}>
        {isOperation ? 'Sign this swap?' : 'Allow this wallet to swap?'}
      </h1>
      {isOperation ? (
        <OperationTerms approval={approval} request={request} />
      ) : (
        <AuthorizationTerms fields={approval.fields} request={request} />
      )}
      {isAsked && <LossConfirmation loss={loss} isConfirmed={isConfirmed} onChange={setConfirmed} />}
      <div class="actions">
        <ActionButton class="primary" isDisabled={isAgreed || (isAsked && !isConfirmed)} onClick={agree}>
          {isAgreed ? 'Waiting for the wallet…' : isOperation ? 'Sign and swap' : 'Sign the authorization'}
        </ActionButton>
        <button type="button" class="secondary" onClick={onDecline}>
          Back, sign nothing
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
