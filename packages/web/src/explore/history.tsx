import { explain } from '../explain.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { Problem } from '../parts/notice.tsx'
import { Filters } from './filters.tsx'
import { toHistoryQuery } from './history-query.ts'
import { HistoryTable } from './history-table.tsx'
import { useHistory } from './use-history.ts'

/** The account's swaps, newest first, by wallet, status and time. */
export function History({ query }: { query: URLSearchParams }) {
  const { swaps, error, isLoading, hasMore, more } = useHistory(toHistoryQuery(query))
  return (
    <section class="card" aria-labelledby="history-title" aria-busy={isLoading}>
      <h1 id="history-title">Swaps</h1>
      <Filters query={query} />
      {error ? <Problem explained={explain(error)} /> : null}
      {swaps.length > 0 && <HistoryTable swaps={swaps} />}
      {swaps.length === 0 && (
        <p class="hint" role="status">
          {isLoading ? 'Reading the history…' : error ? '' : 'No swaps here yet.'}
        </p>
      )}
      {hasMore && (
        <ActionButton class="secondary" onClick={more} isDisabled={isLoading}>
          Older swaps
        </ActionButton>
      )}
    </section>
  )
}
