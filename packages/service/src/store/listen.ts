import type { Client, ClientBase } from 'pg'
import { createClient } from './db.ts'
import type { Channel } from './wakes.ts'

export type ListenerOptions = {
  url: string
  /** Payload handlers by channel. */
  channels: { readonly [Each in Channel]?: (payload: string) => void }
  /** Each new connection waits for it, and is lost if it throws. */
  onOpen?: (client: ClientBase) => Promise<void>
  /** Called after each (re)connection: notifications sent before it may have been missed. */
  onConnect?: () => void
  onDisconnect?: () => void
  /** Called once per outage with its cause, however many retries fail. */
  onFault(error: unknown): void
}

export type Listener = { close(): Promise<void> }

const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 2_000
const ALIVE_CHECK_MS = 5_000

/** Listens to all channels of a process on one connection and reconnects by itself. Never throws. */
export function createListener(options: ListenerOptions): Listener {
  let client: Client | undefined
  let timer: NodeJS.Timeout | undefined
  let retryMs = FIRST_RETRY_MS
  let closed = false

  const lost = (dead: Client, error: unknown): void => {
    if (client !== dead) return
    client = undefined
    clearTimeout(timer)
    dead.end().catch(() => {})
    options.onDisconnect?.()
    if (closed) return
    const isNews = retryMs === FIRST_RETRY_MS
    if (isNews) options.onFault(error)
    timer = setTimeout(connect, retryMs)
    retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)
  }

  // A peer that vanished without closing the connection is only noticed by a query.
  const checkAlive = (current: Client): void => {
    current.query('select 1').then(
      () => {
        if (client === current) timer = setTimeout(checkAlive, ALIVE_CHECK_MS, current)
      },
      (error: unknown) => lost(current, error),
    )
  }

  const connect = async (): Promise<void> => {
    const current = openClient(options)
    client = current
    current.on('error', (error) => lost(current, error))
    current.on('end', () => lost(current, new Error('The database closed the connection')))
    try {
      await current.connect()
      await options.onOpen?.(current)
      for (const channel of Object.keys(options.channels)) {
        await current.query(`listen ${current.escapeIdentifier(channel)}`)
      }
      if (client !== current) return
      retryMs = FIRST_RETRY_MS
      options.onConnect?.()
      timer = setTimeout(checkAlive, ALIVE_CHECK_MS, current)
    } catch (error) {
      lost(current, error)
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

function openClient({ url, channels }: ListenerOptions): Client {
  const client = createClient(url, {
    keepAlive: true,
    connectionTimeoutMillis: 3_000,
    query_timeout: 3_000,
    application_name: 'geoswap listener',
  })
  client.on('notification', ({ channel, payload }) => channels[channel as Channel]?.(payload ?? ''))
  return client
}
