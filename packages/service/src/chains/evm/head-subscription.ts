import { type Hex, webSocket } from 'viem'

type Options = { urls: readonly string[]; blockMs: number; onHead(): void; onFault(error: unknown): void }

/** Opened by the first `keep`, and closed after a while without one. */
export type EvmHeadSubscription = {
  isConnected(): boolean
  announcedAt(): number
  announcedNumber(): bigint
  keep(): void
  stop(): void
}

const SHORTEST_SILENCE_MS = 3_000
const KEPT_MS = 10_000
const NEVER = Number.NEGATIVE_INFINITY

/**
 * Subscribes to new heads by WebSocket. Providers' subscriptions may stop without an error: one that is silent for
 * three block times counts as lost, and the next URL is tried.
 */
export function createHeadSubscription({ urls, blockMs, onHead, onFault }: Options): EvmHeadSubscription {
  const silenceMs = Math.max(3 * blockMs, SHORTEST_SILENCE_MS)
  let announcedAt = NEVER
  let announcedNumber = 0n
  let keptAt = NEVER
  let tries = 0
  let close = () => {}
  let timer: NodeJS.Timeout | undefined

  const isConnected = () => performance.now() - announcedAt <= silenceMs
  const onData = (number: bigint) => {
    announcedAt = performance.now()
    announcedNumber = number
    onHead()
  }
  function connect(): void {
    const url = urls[tries % urls.length]
    if (url === undefined) return
    tries += 1
    close = subscribe(url, { onData, onFault })
  }
  function stop(): void {
    clearInterval(timer)
    timer = undefined
    close()
    close = () => {}
  }
  function check(): void {
    if (performance.now() - keptAt > KEPT_MS) {
      stop()
      return
    }
    if (isConnected()) return
    close()
    connect()
  }

  return {
    isConnected,
    announcedAt: () => announcedAt,
    announcedNumber: () => announcedNumber,
    keep() {
      keptAt = performance.now()
      if (timer) return
      timer = setInterval(check, silenceMs).unref()
      connect()
    },
    stop,
  }
}

type Listener = { onData(number: bigint): void; onFault(error: unknown): void }
type HeadNotification = { result?: { number?: Hex } | undefined }

/** Returns a function that ends the subscription, after which no head is reported. */
function subscribe(url: string, { onData, onFault }: Listener): () => void {
  let isOver = false
  let close = () => {}
  const { value } = webSocket(url, { reconnect: false, retryCount: 0 })({ retryCount: 0 })
  // Without the error itself: it contains the URL, and providers put their keys there.
  const fail = () => {
    if (!isOver) onFault(new Error(`${new URL(url).host} sends no heads`))
  }
  const onHead = ({ result }: HeadNotification) => {
    if (!isOver) onData(BigInt(result?.number ?? 0))
  }
  value?.subscribe({ params: ['newHeads'], onData: onHead, onError: fail }).catch(fail)
  value?.getRpcClient().then(
    (client) => {
      close = () => client.close()
      if (isOver) close()
    },
    // `subscribe` reports it.
    () => {},
  )
  return () => {
    isOver = true
    // At once: viem shares an open socket with the next subscription to its URL.
    close()
  }
}
