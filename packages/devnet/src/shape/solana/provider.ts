import {
  type AnswerHttp,
  answerText,
  type HttpAnswer,
  isObject,
  parseJson,
  type SolanaNode,
} from '@geoswap/solana-rpc'
import { DIRECT_PATH } from '../control-methods.ts'
import { createMeter, nameOfClient } from '../meter.ts'
import { createRateLimit } from '../rate-limit.ts'
import { providerControls } from './controls.ts'
import { createLaggingNode, withLaggingNode } from './lagging-node.ts'

const CONTROL = /^(shape|dev)_/
// Paid plans allow 50 to 400 calls a second (https://docs.shyft.to/solana/solana-rpc-limits, one of several lists).
const CALLS_PER_SECOND = 300
// As https://www.quicknode.com/docs/solana/error-references words it.
const TOO_MANY = 'The requests per second (RPS) of your requests are higher than your plan allows.'
const REFUSAL = JSON.stringify({ jsonrpc: '2.0', error: { code: 429, message: TOO_MANY }, id: null })

/** A transaction is confirmed one to two slots after it landed, so the commitment is two slots behind. */
export const CONFIRMED_LAG = 2

/** The provider in front of the nodes: a pool with a lagging node, a rate limit, and a meter. */
export function createProvider(node: SolanaNode): AnswerHttp {
  const meter = createMeter()
  const settings = { callsPerSecond: CALLS_PER_SECOND }
  const admit = createRateLimit(settings, Date.now)
  const lagging = createLaggingNode()
  const direct = { ...node.methods, ...providerControls({ ...node, meter, settings, lagging }) }
  const pooled = withLaggingNode(node.methods, node.ledger, lagging)

  async function answer(client: string, methods: readonly string[], body: string): Promise<HttpAnswer> {
    const refusal = admit(client, methods.length)
    if (refusal) {
      for (const method of methods) meter.recordRefusal({ client, method })
      const { retryAfterSeconds } = refusal
      const headers: Record<string, string> = retryAfterSeconds
        ? { 'retry-after': String(retryAfterSeconds) }
        : {}
      return { status: 429, text: REFUSAL, headers }
    }
    const text = await answerText(pooled, body)
    const shareOf = (part: string) => Math.ceil(Buffer.byteLength(part) / methods.length)
    for (const method of methods) meter.record({ client, method }, shareOf(body), shareOf(text ?? ''))
    return { status: 200, text }
  }

  return async ({ url, userAgent, body }) => {
    const { pathname, searchParams } = new URL(url, 'http://node')
    const methods = methodsIn(body)
    const client = nameOfClient(searchParams, userAgent)
    if (pathname !== DIRECT_PATH && !methods.some((method) => CONTROL.test(method)))
      return answer(client, methods, body)
    return { status: 200, text: await answerText(direct, body) }
  }
}

/** One name per call; an invalid request counts as one call. */
function methodsIn(body: string): string[] {
  const nameOf = (call: unknown) => (isObject(call) && typeof call.method === 'string' ? call.method : '')
  try {
    const request = parseJson(body)
    return Array.isArray(request) ? request.map(nameOf) : [nameOf(request)]
  } catch {
    return ['']
  }
}
