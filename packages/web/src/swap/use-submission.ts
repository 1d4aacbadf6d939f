import { useCallback, useEffect, useState } from 'preact/hooks'
import { rememberOperation } from '../explore/operations.ts'
import { useSession } from '../service/session.ts'
import { type ActiveSwap, setActiveSwap } from './active.ts'

/** Sends the submission until its outcome is known; after a reload it sends the same one again. */
export function useSubmission(active: ActiveSwap): { error: unknown; askAgain(): void } {
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
