import { Client } from 'pg'

type Options = {
  url: string
  /** By channel: what to do with a payload. */
  channels: Record<string, (payload: string) => void>
  /** Called after each (re)connection: notifications sent before it may have been missed. */
  onConnect?: () => void
  onDisconnect?: () => void
}

export type Listener = { close(): Promise<void> }

const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 2_000
const ALIVE_CHECK_MS = 5_000

/** One connection that listens to all channels of a process and comes back by itself. Never throws. */
export function createListener(options: Options): Listener {
  let client: Client | undefined
  let timer: NodeJS.Timeout | undefined
  let retryMs = FIRST_RETRY_MS
  let closed = false

  const lost = (dead: Client): void => {
    if (client !== dead) return
    client = undefined
    clearTimeout(timer)
    dead.end().catch(() => {})
    options.onDisconnect?.()
    if (closed) return
    timer = setTimeout(connect, retryMs)
    retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)
  }

  // A peer that vanished without a word is only noticed by asking it.
  const checkAlive = (current: Client): void => {
    current.query('select 1').then(
      () => {
        if (client === current) timer = setTimeout(checkAlive, ALIVE_CHECK_MS, current)
      },
      () => lost(current),
    )
  }

  const connect = async (): Promise<void> => {
    const current = createClient(options)
    client = current
    current.on('error', () => lost(current))
    current.on('end', () => lost(current))
    try {
      await current.connect()
      for (const channel of Object.keys(options.channels)) {
        await current.query(`listen ${current.escapeIdentifier(channel)}`)
      }
      if (client !== current) return
      retryMs = FIRST_RETRY_MS
      options.onConnect?.()
      timer = setTimeout(checkAlive, ALIVE_CHECK_MS, current)
    } catch {
      lost(current)
    }
  }

  void connect()
  return {
    async close() {
      closed = true
      clearTimeout(timer)
      const current = client
      client = undefined
      await current?.end().catch(() => {})
    },
  }
}

function createClient({ url, channels }: Options): Client {
  const client = new Client({
    connectionString: url,
    keepAlive: true,
    connectionTimeoutMillis: 3_000,
    query_timeout: 3_000,
    application_name: 'geoswap listener',
  })
  client.on('notification', ({ channel, payload }) => channels[channel]?.(payload ?? ''))
  return client
}
