import { useEffect, useState } from 'preact/hooks'
import { explain } from '../explain.ts'
import { Problem } from '../parts/notice.tsx'
import { go, hrefOf, useRoute } from '../route.ts'
import { useSession } from '../service/session.ts'
import { History } from './history.tsx'
import { findByTransaction, readSearch } from './search.ts'
import { SwapDetails } from './swap-details.tsx'

/** Shows what the URL searches for, until something else is typed. */
function SearchBox({ searched }: { searched: string }) {
  const [text, setText] = useState(searched)
  const [isUnread, setUnread] = useState(false)
  useEffect(() => setText(searched), [searched])
  const submit = (event: Event) => {
    event.preventDefault()
    const search = readSearch(text)
    setUnread(!search && text.trim() !== '')
    if (search) go(hrefOf('explore', { [search.kind]: search.value }))
    else if (text.trim() === '') go(hrefOf('explore'))
  }
  return (
    <search>
      <form class="search" onSubmit={submit}>
        <label class="field">
          <span>Swap id, transaction or wallet</span>
          <input
            class="mono"
            autoComplete="off"
            spellcheck={false}
            value={text}
            aria-invalid={isUnread}
            aria-describedby="search-hint"
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary">
          Find
        </button>
      </form>
      <p class="hint" id="search-hint" role="status">
        {isUnread &&
          'That is neither a swap id (swp_…), nor a transaction hash, nor an address. Paste it whole.'}
      </p>
    </search>
  )
}

/** Searches the swap of a transaction and navigates to it. */
function TransactionSearch({ hash }: { hash: string }) {
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

/** Shows a swap by id, transaction or wallet, and the account's history. The URL selects the view. */
export function ExploreView() {
  const { query } = useRoute()
  const swapId = query.get('swap')
  const hash = query.get('tx')
  const searched = swapId ?? hash ?? query.get('wallet') ?? ''
  return (
    <>
      <SearchBox searched={searched} />
      {swapId ? (
        <SwapDetails key={swapId} swapId={swapId} />
      ) : hash ? (
        <TransactionSearch key={hash} hash={hash} />
      ) : (
        <History query={query} />
      )}
    </>
  )
}
