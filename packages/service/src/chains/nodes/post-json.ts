import http from 'node:http'
import https from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { NodeSilence } from './agree.ts'

/** Notes the calls to one node, and whether it answers. */
export type NodeWatch = { called(method: string): void; answered(): void; failed(): void }

export const unwatched: NodeWatch = { called() {}, answered() {}, failed() {} }

/** The node's rate limit was exceeded. Its answer may contain a waiting time. */
class TooManyRequests extends Error {
  readonly retryAfterMs: number | undefined

  constructor(retryAfterMs: number | undefined) {
    super('The node refused the request: too many requests')
    this.retryAfterMs = retryAfterMs
  }
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 8_000

/**
 * Pauses requests to a rate-limited node for the time it asks for, or with exponential backoff. Waiting requests then
 * run one by one until the node answers again. A request that cannot wait that long fails at once with the node's
 * error.
 */
function createBackoff(patienceMs: number) {
  let freeAt = Number.NEGATIVE_INFINITY
  let pauseMs = FIRST_PAUSE_MS
  let refused: TooManyRequests | undefined
  let turn: Promise<void> = Promise.resolve()

  function backOff(error: unknown): void {
    if (!(error instanceof TooManyRequests)) throw error
    refused = error
    const now = performance.now()
    const isNew = now >= freeAt
    freeAt = Math.max(freeAt, now + (error.retryAfterMs ?? (isNew ? pauseMs : 0)))
    if (isNew) pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
  }

  async function askInTurn<T>(ask: () => Promise<T>, until: number): Promise<T> {
    const before = turn
    let pass = () => {}
    turn = new Promise((resolve) => {
      pass = resolve
    })
    try {
      await before
      while (refused) {
        if (freeAt > until) throw refused
        // A timer may fire a fraction of a millisecond early, before the pause is over.
        while (performance.now() < freeAt) await sleep(Math.ceil(freeAt - performance.now()))
        try {
          const answer = await ask()
          refused = undefined
          pauseMs = FIRST_PAUSE_MS
          return answer
        } catch (error) {
          backOff(error)
        }
      }
    } finally {
      pass()
    }
    return ask()
  }

  return async <T>(ask: () => Promise<T>): Promise<T> => {
    const until = performance.now() + patienceMs
    if (!refused) {
      try {
        return await ask()
      } catch (error) {
        backOff(error)
      }
    }
    return askInTurn(ask, until)
  }
}

/** Posts a JSON body and returns the text of the reply. */
export type PostJson = (body: string, signal?: AbortSignal) => Promise<string>

export class HttpStatusError extends NodeSilence {
  override name = 'HttpStatusError'
  readonly status: number
  readonly text: string

  constructor(status: number, text: string) {
    super(`The node answered with HTTP status ${status}`)
    this.status = status
    this.text = text
  }
}

const MAX_REPLY_BYTES = 32 * 1024 * 1024

const TOO_MANY = 429
// Providers also return this code inside a batch that they served in part.
const TOO_MANY_WITHIN = /"code":\s*429\b/

/** `caller`: identifies the process in requests, so that a provider's statistics can tell processes apart. */
type Options = {
  timeoutMs: number
  caller?: string | undefined
  watch?: NodeWatch | undefined
  headers?: Readonly<Record<string, string>> | undefined
  maxReplyBytes?: number | undefined
}

/**
 * Posts to one node over keep-alive connections. Nodes are queried many times a second, and `fetch` takes several times
 * the processor time for the same exchange.
 */
export function createPostJson(url: string, options: Options): PostJson {
  const { timeoutMs, caller = 'operator', watch = unwatched, maxReplyBytes = MAX_REPLY_BYTES } = options
  const { protocol } = new URL(url)
  const { request, Agent } = protocol === 'https:' ? https : http
  const kept = new Agent({ keepAlive: true })
  const head = {
    method: 'POST',
    headers: {
      ...options.headers,
      'content-type': 'application/json',
      accept: 'application/json',
      'user-agent': `geoswap-${caller}/${process.pid}`,
    },
  }
  const post = (body: string, signal: AbortSignal | undefined, agent: http.Agent | false): Promise<string> =>
    new Promise((resolve, reject) => {
      const call = request(url, { ...head, agent, ...(signal && { signal }) }, (reply) => {
        const { statusCode: status = 0 } = reply
        readText(reply, maxReplyBytes).then((text) => {
          clearTimeout(timer)
          if (status === TOO_MANY || TOO_MANY_WITHIN.test(text)) reject(new TooManyRequests(waitOf(reply)))
          else if (status >= 200 && status < 300) resolve(text)
          else reject(new HttpStatusError(status, text))
        }, fail)
      })
      const fail = (error: unknown) => {
        clearTimeout(timer)
        // The node closed an idle connection. Requests to nodes may be repeated.
        if (agent && call.reusedSocket && isReset(error)) resolve(post(body, signal, false))
        else reject(error)
      }
      const timer = setTimeout(
        () => call.destroy(new NodeSilence(`No answer within ${timeoutMs} ms`)),
        timeoutMs,
      )
      call.on('error', fail)
      call.end(body)
    })
  const withBackoff = createBackoff(timeoutMs)
  return async (body, signal) => {
    try {
      const text = await withBackoff(() => post(body, signal, kept))
      watch.answered()
      return text
    } catch (error) {
      // The caller of an aborted request did not wait for the node.
      if (!signal?.aborted) watch.failed()
      throw error instanceof TooManyRequests ? new HttpStatusError(TOO_MANY, error.message) : error
    }
  }
}

/** In seconds, or as a date. */
function waitOf({ headers }: http.IncomingMessage): number | undefined {
  const text = headers['retry-after']
  if (!text) return undefined
  const ms = /^\d+$/.test(text) ? 1_000 * Number(text) : Date.parse(text) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}

function readText(reply: http.IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let bytes = 0
    reply.on('data', (part: Buffer) => {
      parts.push(part)
      bytes += part.length
      if (bytes > maxBytes) reply.destroy(new NodeSilence("The node's answer is too long"))
    })
    reply.on('end', () => resolve(parts.length === 1 ? String(parts[0]) : Buffer.concat(parts).toString()))
    reply.on('aborted', () => reject(new NodeSilence('The node closed the connection during its answer')))
    reply.on('error', reject)
  })
}
