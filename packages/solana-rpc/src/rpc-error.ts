// JSON-RPC 2.0 section 5.1, then the codes of the Agave RPC server (rpc-client-api, custom_error.rs).
export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603
export const PREFLIGHT_FAILURE = -32002
export const SIGNATURE_FAILURE = -32003
export const BLOCK_NOT_AVAILABLE = -32004
export const UNSUPPORTED_VERSION = -32015
export const MIN_CONTEXT_SLOT = -32016

/** A refusal that the client sees as a JSON-RPC error. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.name = 'RpcError'
    this.code = code
    this.data = data
  }
}

export function invalidParams(message: string): RpcError {
  return new RpcError(INVALID_PARAMS, message)
}
