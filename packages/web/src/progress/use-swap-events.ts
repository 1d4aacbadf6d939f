import { type Client, GeoswapError, type StatusReply } from '@geoswap/sdk'
import { useEffect, useState } from 'preact/hooks'
import { useSession } from '../service/session.ts'

type Followed = { swap?: StatusReply; error?: unknown }

const PAUSE_MS = 2_000

/** Follows a swap by its event stream. A lost stream is reopened until the swap has ended. */
export function useSwapEvents(swapId: string | undefined): Followed {
  const { client } = useSession()
  const [followed, setFollowed] = useState<Followed>({})
  useEffect(() => {
    setFollowed({})
    if (swapId === undefined) return undefined
    const controller = new AbortController()
    void follow({ client, swapId, signal: controller.signal, update: setFollowed })
    return () => controller.abort()
  }, [client, swapId])
  return followed
}

type Following = {
  client: Client
  swapId: string
  signal: AbortSignal
  update(next: (last: Followed) => Followed): void
}

async function follow({ client, swapId, signal, update }: Following): Promise<void> {
  let lastEventId: string | undefined
  while (!signal.aborted) {
    try {
      for await (const { id, swap } of client.events(swapId, { signal, lastEventId })) {
        lastEventId = id
        update(() => ({ swap }))
      }
      return
    } catch (error) {
      if (signal.aborted) return
      update((last) => ({ ...last, error }))
      // A permanent refusal: asking again would not help.
      if (error instanceof GeoswapError && error.status >= 400 && error.status < 500 && error.status !== 429)
        return
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
}
