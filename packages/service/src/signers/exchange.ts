import http from 'node:http'
import https from 'node:https'
import { rootCertificates } from 'node:tls'

/**
 * Why a remote signer gave no usable signature: it is away, does not hold the key, refused, or answered with a
 * signature of another key.
 */
type SignerFault = 'away' | 'unknownKey' | 'refused' | 'wrong'

export class SignerError extends Error {
  readonly fault: SignerFault

  constructor(fault: SignerFault, message: string, cause?: unknown) {
    super(message, { cause })
    this.fault = fault
  }
}

export type Reply = { status: number; text: string }
/** Posts a body, or gets without one. Throws if there is no complete reply in time. */
export type Exchange = (path: string, body?: object) => Promise<Reply>

type Options = {
  url: string
  timeoutMs: number
  /** In PEM: a client certificate, its key and, if the server's is private, its authority. */
  clientTls?: string | undefined
}

const MAX_REPLY_BYTES = 1024 * 1024

/** Exchanges text with one server over kept connections, within a time limit. */
export function createExchange({ url, timeoutMs, clientTls }: Options): Exchange {
  const base = url.replace(/\/+$/, '')
  const { request, Agent } = base.startsWith('https:') ? https : http
  const agent = new Agent({ keepAlive: true, ...(clientTls && toTls(clientTls)) })
  return (path, body) => {
    const signal = AbortSignal.timeout(timeoutMs)
    const ask = (): Promise<Reply> =>
      new Promise((resolve, reject) => {
        const method = body === undefined ? 'GET' : 'POST'
        const headers = body === undefined ? {} : { 'content-type': 'application/json' }
        const call = request(`${base}${path}`, { method, headers, agent, signal }, (reply) => {
          readText(reply).then((text) => resolve({ status: reply.statusCode ?? 0, text }), reject)
        })
        call.on('error', reject)
        call.end(body && JSON.stringify(body))
      })
    // Servers close idle connections, and restart behind a balancer. A request may safely be repeated.
    return ask()
      .catch((error: unknown) => (isBroken(error) ? ask() : Promise.reject(error)))
      .catch((error: unknown) => {
        if (signal.aborted) throw new Error(`No answer within ${timeoutMs} ms`, { cause: error })
        throw error
      })
  }
}

const toTls = (pem: string) => ({ cert: pem, key: pem, ca: [...rootCertificates, pem] })

function isBroken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}

async function readText(reply: http.IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of reply) {
    bytes += part.length
    if (bytes > MAX_REPLY_BYTES) throw new Error('The answer is too long')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}
