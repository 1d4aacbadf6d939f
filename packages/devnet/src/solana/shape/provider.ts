import { DIRECT_PATH } from '../../shape/control-methods.ts'
import { isObject, parseJson } from '../json.ts'
import { answerText, type Methods } from '../json-rpc.ts'
import type { Ledger } from '../ledger.ts'
import type { AnswerHttp } from '../server.ts'
import { providerControls } from './controls.ts'
import { createLaggingNode, withLaggingNode } from './lagging-node.ts'
import { createMeter } from './meter.ts'
import { createRateLimit } from './rate-limit.ts'

const CONTROL = /^(shape|dev)_/
// As https://www.quicknode.com/docs/solana/error-references words it.
const TOO_MANY = {
  jsonrpc: '2.0',
  error: {
    code: 429,
    message: 'The requests per second (RPS) of your requests are higher than your plan allows.',
  },
  id: null,
}

/** What a provider puts in front of its nodes: a pool of which one lags, a rate limit, and a meter. */
export function createProvider(node: { ledger: Ledger; methods: Methods; slotMs: number }): AnswerHttp {
  const meter = createMeter()
  const limit = createRateLimit(Date.now)
  const lagging = createLaggingNode()
  const direct = { ...node.methods, ...providerControls({ ...node, meter, limit, lagging }) }
  const pooled = withLaggingNode(node.methods, node.ledger, lagging)

  return async ({ url, userAgent, body }) => {
    const { pathname, searchParams } = new URL(url, 'http://node')
    const methods = methodsIn(body)
    if (pathname === DIRECT_PATH || methods.some((method) => CONTROL.test(method)))
      return { status: 200, text: await answerText(direct, body) }
    const client = userAgent ?? searchParams.get('client') ?? 'unknown'
    const exchange = { client, methods, requestBytes: Buffer.byteLength(body) }
    if (!limit.takes(client, methods.length)) {
      meter.refused(exchange)
      return { status: 429, text: JSON.stringify(TOO_MANY), headers: { 'retry-after': '1' } }
    }
    const text = await answerText(pooled, body)
    meter.answered(exchange, Buffer.byteLength(text ?? ''))
    return { status: 200, text }
  }
}

/** One name per call; what is no request counts as one call. */
function methodsIn(body: string): string[] {
  const nameOf = (call: unknown) => (isObject(call) && typeof call.method === 'string' ? call.method : '')
  try {
    const request = parseJson(body)
    return Array.isArray(request) ? request.map(nameOf) : [nameOf(request)]
  } catch {
    return ['']
  }
}
