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

/** The decoded content to be signed, and the choice to decline. */
export function Review({ request, phase, onDecline }: Props) {
  const { approval, agree } = phase
  const isOperation = approval.kind === 'operation'
  const heading = useRef<HTMLHeadingElement>(null)
  // Moves the focus to the question, for screen readers.
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
