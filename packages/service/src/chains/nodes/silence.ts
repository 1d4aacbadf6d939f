/** A node did not answer, or not to the question. */
export class NodeSilence extends Error {
  override name = 'NodeSilence'
}

// Errors of viem, of kit and of this folder that a node or the way to it causes, by their names.
const NAMES = new Set([
  'NodeSilence',
  'NoAgreementError',
  'HttpStatusError',
  'HttpRequestError',
  'RpcRequestError',
  'TimeoutError',
  'WebSocketRequestError',
  'AbortError',
  'BlockNotFoundError',
  'TransactionNotFoundError',
  'TransactionReceiptNotFoundError',
])
const MAX_DEPTH = 10

/** Whether an error says that a node was silent, and nothing about what was asked. */
export function isSilence(error: unknown): boolean {
  let cause = error
  for (let depth = 0; depth < MAX_DEPTH && cause instanceof Error; depth += 1) {
    if (NAMES.has(cause.name) || isOfSystem(cause) || isOfRpc(cause)) return true
    cause = cause.cause
  }
  return false
}

/** A refused or broken connection. */
const isOfSystem = (error: Error) => 'syscall' in error

/** Kit has positive codes for its own errors, and passes on the negative ones of JSON-RPC. */
const isOfRpc = ({ name, ...error }: Error & { context?: { __code?: unknown } }) =>
  name === 'SolanaError' && Number(error.context?.__code) < 0
