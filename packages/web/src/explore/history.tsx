import type { HistoryQuery, SwapRecord } from '@geoswap/sdk'
import { SWAP_STATUSES } from '@geoswap/wire/names'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { formatUnits, shorten } from '../amounts.ts'
import { explain } from '../explain.ts'
import { ActionButton, useMedia } from '../parts/focus.tsx'
import { NavLink } from '../parts/links.tsx'
import { Problem } from '../parts/notice.tsx'
import { STATUSES } from '../progress/outcome.ts'
import { go, hrefOf } from '../route.ts'
import { type Catalog, chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { toHistoryQuery } from './search.ts'

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

type Pages = {
  swaps: readonly SwapRecord[]
  cursor?: string | undefined
  error?: unknown
  isLoading: boolean
}

const PAGE = 20

/** The swaps that match the filters, page by page. */
function useHistory(query: HistoryQuery) {
  const { client } = useSession()
  const [pages, setPages] = useState<Pages>({ swaps: [], isLoading: true })
  const key = JSON.stringify(query)

  const read = useCallback(
    async (cursor: string | undefined, signal?: AbortSignal) => {
      setPages((last) => ({ ...last, isLoading: true, error: undefined }))
      const filters = { ...(JSON.parse(key) as HistoryQuery), limit: PAGE, cursor }
      try {
        const { swaps, nextCursor } = await client.history(filters, { signal })
        setPages((last) => ({
          swaps: cursor === undefined ? swaps : [...last.swaps, ...swaps],
          cursor: nextCursor,
          isLoading: false,
        }))
      } catch (error) {
        if (!signal?.aborted) setPages((last) => ({ ...last, error, isLoading: false }))
      }
    },
    [client, key],
  )

  useEffect(() => {
    const controller = new AbortController()
    void read(undefined, controller.signal)
    return () => controller.abort()
  }, [read])

  const { swaps, cursor, error, isLoading } = pages
  return { swaps, error, isLoading, hasMore: cursor !== undefined, more: () => void read(cursor) }
}

const FILTERS = ['status', 'from', 'to']

/**
 * Folded where they would fill the screen. Each change has its own URL, so that it can be shared and the back
 * button works.
 */
function Filters({ query }: { query: URLSearchParams }) {
  const isNarrow = useMedia('(max-width: 44rem)')
  const set = (name: string, value: string) => {
    const next = new URLSearchParams(query)
    if (value) next.set(name, value)
    else next.delete(name)
    go(hrefOf('explore', Object.fromEntries(next)))
  }
  const count = FILTERS.filter((name) => query.has(name)).length
  const fields = (
    <div class="filters">
      <label class="field">
        <span>Status</span>
        <select
          value={query.get('status') ?? ''}
          onChange={(event) => set('status', event.currentTarget.value)}
        >
          <option value="">All</option>
          {SWAP_STATUSES.map((status) => (
            <option key={status} value={status}>
              {STATUSES[status].name}
            </option>
          ))}
        </select>
      </label>
      {(['from', 'to'] as const).map((name) => (
        <label class="field" key={name}>
          <span>{name === 'from' ? 'From' : 'Until'}</span>
          <input
            type="date"
            value={query.get(name) ?? ''}
            onChange={(event) => set(name, event.currentTarget.value)}
          />
        </label>
      ))}
      {query.size > 0 && (
        <button type="button" class="secondary" onClick={() => go(hrefOf('explore'))}>
          Clear
        </button>
      )}
    </div>
  )
  if (!isNarrow) return fields
  return (
    <details class="filters-fold">
      <summary>Filters{count > 0 && `: ${count} in use`}</summary>
      {fields}
    </details>
  )
}

function HistoryTable({ swaps }: { swaps: readonly SwapRecord[] }) {
  const { catalog } = useSession()
  return (
    <table class="history">
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">Swap</th>
          <th scope="col">From</th>
          <th scope="col">To</th>
          <th scope="col">Status</th>
        </tr>
      </thead>
      <tbody>
        {swaps.map((swap) => (
          <tr key={swap.swapId}>
            <td data-name="When">
              <time dateTime={swap.createdAt}>{new Date(swap.createdAt).toLocaleString()}</time>
            </td>
            <td data-name="Swap">
              <NavLink href={hrefOf('explore', { swap: swap.swapId })} class="mono">
                {shorten(swap.swapId)}
              </NavLink>
            </td>
            <td data-name="From">
              {sideOf(catalog, swap.originChain, swap.inputToken, swap.amounts.input)}
              {STATUSES[swap.status].note}
            </td>
            <td data-name="To">
              {swap.amounts.delivered === undefined
                ? '–'
                : sideOf(catalog, swap.destinationChain, swap.outputToken, swap.amounts.delivered)}
            </td>
            <td data-name="Status">
              <span class={`badge ${swap.status}`}>{swap.status}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function sideOf(catalog: Catalog, chainId: number, address: string, amount: string): string {
  const token = tokenOf(catalog, chainId, address)
  const chain = chainOf(catalog, chainId)?.name ?? `chain ${chainId}`
  return token ? `${formatUnits(amount, token)} on ${chain}` : `${amount} on ${chain}`
}
