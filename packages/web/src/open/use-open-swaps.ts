import type { SwapRecord } from '@geoswap/sdk'
import { useEffect, useState } from 'preact/hooks'
import { useSession } from '../service/session.ts'

type OpenSwaps = { swaps?: readonly SwapRecord[]; error?: unknown }

const REFRESH_MS = 4_000
const MOST = 50

/** The swaps of these wallets that have not ended, newest first. */
export function useOpenSwaps(wallets: readonly string[]): OpenSwaps {
  const { client } = useSession()
  const [open, setOpen] = useState<OpenSwaps>({})
  const key = wallets.join(' ')
  useEffect(() => {
    if (key === '') return undefined
    const controller = new AbortController()
    const { signal } = controller
    let timer: ReturnType<typeof setTimeout> | undefined
    const read = async () => {
      const pages = key
        .split(' ')
        .map((wallet) => client.history({ wallet, status: 'pending', limit: MOST }, { signal }))
      const next = await Promise.all(pages).then(
        (replies) => ({ swaps: replies.flatMap(({ swaps }) => swaps).toSorted(byTime) }),
        (error: unknown) => ({ error }),
      )
      if (signal.aborted) return
      // After an error the last known swaps stay.
      setOpen((last) => ({ ...last, error: undefined, ...next }))
      timer = setTimeout(read, REFRESH_MS)
    }
    void read()
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [client, key])
  return open
}

function byTime(a: SwapRecord, b: SwapRecord): number {
  return b.createdAt.localeCompare(a.createdAt)
}
