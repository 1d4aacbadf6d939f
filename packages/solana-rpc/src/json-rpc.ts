import { isObject, parseJson, stringifyJson } from './json.ts'
import {
  INTERNAL_ERROR,
  INVALID_REQUEST,
  invalidParams,
  METHOD_NOT_FOUND,
  PARSE_ERROR,
  RpcError,
} from './rpc-error.ts'

export type Method = (params: unknown[]) => unknown
export type Methods = Record<string, Method>

/** Answers one request or a batch. Undefined if no answer is due (notifications). Never throws. */
export async function answerText(methods: Methods, text: string): Promise<string | undefined> {
  let request: unknown
  try {
    request = parseJson(text)
  } catch {
    return stringifyJson(failure(null, new RpcError(PARSE_ERROR, 'Parse error')))
  }
  const reply = Array.isArray(request) ? await answerBatch(methods, request) : await answer(methods, request)
  return reply === undefined ? undefined : stringifyJson(reply)
}

async function answerBatch(methods: Methods, requests: unknown[]): Promise<unknown> {
  if (requests.length === 0) return failure(null, new RpcError(INVALID_REQUEST, 'Invalid request'))
  const replies: unknown[] = []
  for (const request of requests) {
    const reply = await answer(methods, request)
    if (reply !== undefined) replies.push(reply)
  }
  return replies.length === 0 ? undefined : replies
}

async function answer(methods: Methods, request: unknown): Promise<unknown> {
  if (!isObject(request) || request.jsonrpc !== '2.0' || typeof request.method !== 'string') {
    return failure(idOf(request), new RpcError(INVALID_REQUEST, 'Invalid request'))
  }
  const id = idOf(request)
  const reply = await run(methods, { id, method: request.method, params: request.params })
  return 'id' in request ? reply : undefined
}

async function run(methods: Methods, call: { id: unknown; method: string; params: unknown }) {
  try {
    const method = Object.hasOwn(methods, call.method) ? methods[call.method] : undefined
    if (!method) throw new RpcError(METHOD_NOT_FOUND, 'Method not found')
    const params = call.params ?? []
    if (!Array.isArray(params)) throw invalidParams('`params` should be an array')
    return { jsonrpc: '2.0', result: (await method(params)) ?? null, id: call.id }
  } catch (error) {
    return failure(call.id, error)
  }
}

function failure(id: unknown, error: unknown) {
  const { code, message, data } = error instanceof RpcError ? error : internal(error)
  return { jsonrpc: '2.0', error: { code, message, ...(data !== undefined && { data }) }, id }
}

function internal(error: unknown): RpcError {
  const reason = error instanceof Error ? error.message : String(error)
  return new RpcError(INTERNAL_ERROR, `Internal error: ${reason}`)
}

function idOf(request: unknown): unknown {
  const id = isObject(request) ? request.id : null
  return typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint' ? id : null
}
