import http from 'node:http'
import https from 'node:https'

/** Posts a JSON body and answers with the reply's text. */
export type PostJson = (body: string, signal?: AbortSignal) => Promise<string>

export class HttpStatusError extends Error {
  readonly status: number
  readonly text: string

  constructor(status: number, text: string) {
    super(`The node answered with HTTP status ${status}`)
    this.status = status
    this.text = text
  }
}

const MAX_REPLY_BYTES = 32 * 1024 * 1024

/**
 * Requests to one node over connections that are kept open. Nodes are asked many times a second, and `fetch`
 * takes several times as much of the processor for the same exchange.
 */
export function createPostJson(url: string, timeoutMs: number): PostJson {
  const { protocol } = new URL(url)
  const { request, Agent } = protocol === 'https:' ? https : http
  const kept = new Agent({ keepAlive: true })
  const options = {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
  }
  const post = (body: string, signal: AbortSignal | undefined, agent: http.Agent | false): Promise<string> =>
    new Promise((resolve, reject) => {
      const call = request(url, { ...options, agent, ...(signal && { signal }) }, (reply) => {
        const { statusCode: status = 0 } = reply
        readText(reply).then((text) => {
          clearTimeout(timer)
          if (status >= 200 && status < 300) resolve(text)
          else reject(new HttpStatusError(status, text))
        }, fail)
      })
      const fail = (error: unknown) => {
        clearTimeout(timer)
        // An idle connection that the node has closed. What is asked of a node may be asked twice.
        if (agent && call.reusedSocket && isReset(error)) resolve(post(body, signal, false))
        else reject(error)
      }
      const timer = setTimeout(() => call.destroy(new Error(`No answer within ${timeoutMs} ms`)), timeoutMs)
      call.on('error', fail)
      call.end(body)
    })
  return (body, signal) => post(body, signal, kept)
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}

function readText(reply: http.IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let bytes = 0
    reply.on('data', (part: Buffer) => {
      parts.push(part)
      bytes += part.length
      if (bytes > MAX_REPLY_BYTES) reply.destroy(new Error('The answer of the node is too long'))
    })
    reply.on('end', () => resolve(parts.length === 1 ? String(parts[0]) : Buffer.concat(parts).toString()))
    reply.on('aborted', () => reject(new Error('The node hung up in the middle of its answer')))
    reply.on('error', reject)
  })
}
