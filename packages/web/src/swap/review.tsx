import type { QuoteRequest } from '@geoswap/sdk'
import { useEffect, useRef } from 'preact/hooks'
import { AuthorizationTerms } from './authorization-terms.tsx'
import { OperationTerms } from './operation-terms.tsx'
import type { Phase } from './use-preparation.ts'

type Props = {
  request: QuoteRequest
  phase: Extract<Phase, { kind: 'asking' }>
  onDecline(): void
}

/** What is about to be signed, decoded, and the choice to leave it. */
export function Review({ request, phase, onDecline }: Props) {
  const { approval, agree } = phase
  const isOperation = approval.kind === 'operation'
  const heading = useRef<HTMLHeadingElement>(null)
  // The form is gone, and whoever does not see it has to be where the question is.
  useEffect(() => heading.current?.focus(), [approval])
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
      <div class="actions">
        <button type="button" class="primary" onClick={agree}>
          {isOperation ? 'Sign and swap' : 'Sign the authorization'}
        </button>
        <button type="button" class="secondary" onClick={onDecline}>
          Back, sign nothing
        </button>
      </div>
    </section>
  )
}
