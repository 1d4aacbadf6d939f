import type { WebSocket } from 'ws'
import { createBalancer } from './backends.ts'
import { isEquipment } from './call.ts'
import { type ErrorJson, toErrorJson } from './errors.ts'
import { createRateLimit, RATE_LIMITED, type Refusal } from './rate-limit.ts'
import type { ShapedChain } from './shaped-chain.ts'

export type Client = { name: string; direct: boolean }
/** A connection that may subscribe, and its subscriptions. */
type Subscriber = { socket: WebSocket; ids: Set<string> }
type Request = { id?: unknown; method?: unknown; params?: unknown }
type Asking = { client: Client; lag: number; subscriber: Subscriber | undefined }
type Reply = { text: string; refusal?: Refusal }

const PARSE_ERROR: ErrorJson = { code: -32_700, message: 'parse error' }
const INVALID_REQUEST: ErrorJson = { code: -32_600, message: 'invalid request' }

/** Replies to a request as a provider does: limited, metered, from one of two backends. */
export function createReplies(chain: ShapedChain) {
  const { meter, settings } = chain
  const admit = createRateLimit(settings, Date.now)
  const isSecondBackend = createBalancer()

  return async (text: string, client: Client, subscriber?: Subscriber): Promise<Reply> => {
    const parsed = parse(text)
    if (parsed === undefined) return { text: toText({}, { error: PARSE_ERROR }) }
    const requests = (Array.isArray(parsed) ? parsed : [parsed]).map(toRequest)
    if (requests.length === 0) return { text: toText({}, { error: INVALID_REQUEST }) }
    const counted = client.direct ? [] : requests.filter(({ method }) => !isEquipment(String(method)))
    const refusal = counted.length > 0 ? admit(client.name, counted.length) : undefined
    if (refusal) {
      for (const { method } of counted) meter.recordRefusal({ client: client.name, method: String(method) })
      return { text: toText(requests[0] ?? {}, { error: RATE_LIMITED }), refusal }
    }
    const lag = !client.direct && !subscriber && isSecondBackend() ? settings.backendLag : 0
    const bytes = Math.ceil(Buffer.byteLength(text) / requests.length)
    const replies = await Promise.all(
      requests.map(async (request) => {
        const answered = await answer(chain, request, { client, lag, subscriber })
        if (!counted.includes(request)) return answered
        meter.record(
          { client: client.name, method: String(request.method) },
          bytes,
          Buffer.byteLength(answered),
        )
        return answered
      }),
    )
    return { text: Array.isArray(parsed) ? `[${replies.join(',')}]` : (replies[0] ?? '') }
  }
}

async function answer(chain: ShapedChain, request: Request, asking: Asking): Promise<string> {
  const { method, params = [] } = request
  if (typeof method !== 'string' || !Array.isArray(params)) return toText(request, { error: INVALID_REQUEST })
  try {
    const result = await chain.answer({ method, params, lag: asking.lag })
    if (method === 'eth_subscribe') subscribe(chain, String(result), asking)
    if (method === 'eth_unsubscribe') chain.subscriptions.remove(String(params[0]))
    return toText(request, { result: result ?? null })
  } catch (error) {
    return toText(request, { error: toErrorJson(error) })
  }
}

function subscribe(chain: ShapedChain, id: string, { client, subscriber }: Asking): void {
  if (!subscriber) return
  subscriber.ids.add(id)
  chain.subscriptions.add(id, (params) => {
    const text = JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params })
    const measured = { client: client.name, method: 'eth_subscription' }
    if (!client.direct) chain.meter.record(measured, 0, Buffer.byteLength(text))
    subscriber.socket.send(text)
  })
}

/** Undefined if it is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function toRequest(value: unknown): Request {
  return typeof value === 'object' && value !== null ? value : {}
}

function toText({ id }: Request, outcome: { result: unknown } | { error: ErrorJson }): string {
  return JSON.stringify({ jsonrpc: '2.0', id: id ?? null, ...outcome })
}
