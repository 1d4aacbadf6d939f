import { type Hex, webSocket } from 'viem'

type Options = { urls: readonly string[]; blockMs: number; onHead(): void; onFault(error: unknown): void }

/** Opened by the first `keep`, and closed when nobody has called it for a while. */
export type EvmHeadNews = {
  isConnected(): boolean
  toldAt(): number
  toldNumber(): bigint
  keep(): void
  stop(): void
}

const SHORTEST_SILENCE_MS = 3_000
const KEPT_MS = 10_000
const NEVER = Number.NEGATIVE_INFINITY

/**
 * Hears of new heads by WebSocket. Subscriptions of providers stop without an error: one that was silent for three
 * block times counts as gone, and the next URL is tried.
 */
export function createHeadNews({ urls, blockMs, onHead, onFault }: Options): EvmHeadNews {
  const silenceMs = Math.max(3 * blockMs, SHORTEST_SILENCE_MS)
  let toldAt = NEVER
  let toldNumber = 0n
  let keptAt = NEVER
  let tries = 0
  let close = () => {}
  let timer: NodeJS.Timeout | undefined

  const isConnected = () => performance.now() - toldAt <= silenceMs
  const onData = (number: bigint) => {
    toldAt = performance.now()
    toldNumber = number
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
    toldAt: () => toldAt,
    toldNumber: () => toldNumber,
    keep() {
      keptAt = performance.now()
      if (timer) return
      timer = setInterval(check, silenceMs).unref()
      connect()
    },
    stop,
  }
}

type Heard = { onData(number: bigint): void; onFault(error: unknown): void }
type News = { result?: { number?: Hex } | undefined }

/** Returns what ends it; nothing is heard after that. */
function subscribe(url: string, { onData, onFault }: Heard): () => void {
  let isOver = false
  const { value } = webSocket(url, { reconnect: false, retryCount: 0 })({ retryCount: 0 })
  // Without the error itself: it names the URL, and providers put their keys there.
  const fail = () => {
    if (!isOver) onFault(new Error(`${new URL(url).host} does not tell heads`))
  }
  const onHead = ({ result }: News) => {
    if (!isOver) onData(BigInt(result?.number ?? 0))
  }
  value?.subscribe({ params: ['newHeads'], onData: onHead, onError: fail }).catch(fail)
  return () => {
    isOver = true
    // A socket that cannot be closed was never open.
    value?.getRpcClient().then(
      (client) => client.close(),
      () => {},
    )
  }
}
