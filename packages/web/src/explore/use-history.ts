import type { HistoryQuery, SwapRecord } from '@geoswap/sdk'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { useSession } from '../service/session.ts'

type Pages = {
  swaps: readonly SwapRecord[]
  cursor?: string | undefined
  error?: unknown
  isLoading: boolean
}

const PAGE = 20

/** The swaps that match the filters, page by page. */
export function useHistory(query: HistoryQuery) {
  const { client } = useSession()
  const [pages, setPages] = useState<Pages>({ swaps: [], isLoading: true })
  const key = JSON.stringify(query)

  const read = useCallback(
    async (cursor: string | undefined, signal?: AbortSignal) => {
      setPages((last) => ({ ...last, isLoading: true, error: undefined }))
      const filters = { ...(JSON.parse(key) as HistoryQuery), limit: PAGE, ...(cursor && { cursor }) }
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
