import { useRoute } from '../route.ts'
import { History } from './history.tsx'
import { SearchBox } from './search-box.tsx'
import { SwapDetails } from './swap-details.tsx'
import { TransactionSearch } from './transaction-search.tsx'

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
