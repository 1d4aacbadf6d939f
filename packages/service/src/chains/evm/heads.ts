import { BaseError, BlockNotFoundError, type Hex, type PublicClient, RpcRequestError, webSocket } from 'viem'
import type { FinalityRules } from '../../swap/finality.ts'
import type { Block, Heads } from '../chain.ts'

/** A block as this adapter keeps it for fees. */
export type WithBaseFee = { baseFeeWei: bigint }

export type HeadRules = Pick<FinalityRules, 'settle' | 'hard' | 'hardSeconds'> & {
  blockMs: number
  /** Whether to follow the `safe` tag as well. */
  followsSafe?: boolean
}

type Client = Pick<PublicClient, 'getBlock'>
type Final = Pick<Heads, 'hard' | 'safe'>

// Finality of public chains moves in steps of minutes: more frequent readings show nothing new.
const MAX_FINALITY_AGE_SECONDS = 12
// Readings per finality time, on a chain that is final sooner.
const LOOKS_PER_FINALITY = 20

/**
 * Reads the head and the newest final block: the node's `finalized`, but never above the configured depth. A final
 * block must not change. If it does, every reading fails until an operator has restarted the process.
 */
export function createHeadReader(client: Client, rules: HeadRules): (known?: Heads) => Promise<Heads> {
  let final: Final | undefined
  let readAt = Number.NEGATIVE_INFINITY
  // In whole seconds, like block times: a chain that is final within seconds is read with every head.
  const maxAgeSeconds = Math.min(MAX_FINALITY_AGE_SECONDS, Math.floor(rules.hardSeconds / LOOKS_PER_FINALITY))

  async function readFinal(head: Block): Promise<Final> {
    const [hard, safe] = await Promise.all([
      readHard(client, rules, head),
      rules.followsSafe ? readTag(client, 'safe') : undefined,
      final && assertKept(client, final.hard),
    ])
    const kept = final && final.hard.number > hard.number ? final.hard : hard
    return { hard: kept, safe }
  }

  return async (known) => {
    const head = toBlock(await client.getBlock({ blockTag: 'latest' }))
    if (known?.head.hash === head.hash) return known
    // A block that was final for the previous follower stays final.
    final ??= known && { hard: known.hard, safe: known.safe }
    if (!final || Math.abs(head.seconds - readAt) >= maxAgeSeconds) {
      final = await readFinal(head)
      readAt = head.seconds
    }
    const settled = head.number - BigInt(rules.settle - 1)
    const settle = { ...head, number: settled > final.hard.number ? settled : final.hard.number }
    return { head, settle, ...final }
  }
}

async function readHard(client: Client, rules: HeadRules, head: Block): Promise<Block> {
  const tagged = await readTag(client, 'finalized')
  // Without the tag, a block is final after the longest time that finality may take.
  const depth = tagged ? rules.hard : Math.ceil((rules.hardSeconds * 1_000) / rules.blockMs)
  const deepest = head.number - BigInt(Math.max(depth, rules.hard) - 1)
  const number = deepest > 0n ? deepest : 0n
  if (tagged && tagged.number <= number) return tagged
  return number === head.number ? head : readBlock(client, number)
}

// JSON-RPC's code for invalid parameters, and the code that nodes return for a tag without a block.
const NO_SUCH_TAG = [-32_602, -39_001]

/** Undefined if the node does not know the tag, or has no such block yet. A silent node is an error. */
async function readTag(client: Client, blockTag: 'safe' | 'finalized'): Promise<Block | undefined> {
  try {
    return toBlock(await client.getBlock({ blockTag }))
  } catch (error) {
    if (error instanceof BlockNotFoundError || isUnknownTag(error)) return undefined
    throw error
  }
}

function isUnknownTag(error: unknown): boolean {
  const answer = error instanceof BaseError && error.walk((cause) => cause instanceof RpcRequestError)
  if (!(answer instanceof RpcRequestError)) return false
  return NO_SUCH_TAG.includes(answer.code) || /(safe|finalized) block not found/i.test(answer.details)
}

async function assertKept(client: Client, before: Block): Promise<void> {
  const { hash } = await readBlock(client, before.number)
  if (hash === before.hash) return
  throw new Error(`Block ${before.number} was final and is another one now: ${hash}, not ${before.hash}`)
}

async function readBlock(client: Client, blockNumber: bigint): Promise<Block> {
  return toBlock(await client.getBlock({ blockNumber }))
}

type NodeBlock = { number: bigint; hash: Hex; timestamp: bigint; baseFeePerGas: bigint | null }

function toBlock({ number, hash, timestamp, baseFeePerGas }: NodeBlock): Block & WithBaseFee {
  return { number, height: number, hash, seconds: Number(timestamp), baseFeeWei: baseFeePerGas ?? 0n }
}

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
