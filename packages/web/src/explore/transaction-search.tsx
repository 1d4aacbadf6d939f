import { useEffect, useState } from 'preact/hooks'
import { explain } from '../explain.ts'
import { Problem } from '../parts/notice.tsx'
import { go, hrefOf } from '../route.ts'
import { useSession } from '../service/session.ts'
import { findByTransaction } from './search.ts'

/** Searches the swap of a transaction and navigates to it. */
export function TransactionSearch({ hash }: { hash: string }) {
  const { client } = useSession()
  const [state, setState] = useState<{ error?: unknown; isOver: boolean }>({ isOver: false })
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    findByTransaction(client, hash, signal).then(
      (found) => (found ? go(hrefOf('explore', { swap: found.swapId })) : setState({ isOver: true })),
      (error: unknown) => signal.aborted || setState({ error, isOver: true }),
    )
    return () => controller.abort()
  }, [client, hash])
  if (state.error) return <Problem explained={explain(state.error)} />
  return (
    <p class="loading" role="status">
      {state.isOver
        ? 'None of the newest thousand swaps of this key has that transaction. Search by wallet or by swap id.'
        : 'Looking through the newest swaps…'}
    </p>
  )
}
