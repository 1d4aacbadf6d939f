const TIMEOUT_MS = 10_000

type Answer = { result?: unknown; error?: { message?: string } }

/**
 * Makes one JSON-RPC call to the caller's node. A full client would be larger than the rest of this package.
 */
export async function callNode(rpcUrl: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const { result, error } = (await response.json()) as Answer
  if (error || result === undefined) throw new Error(`The node answers ${method} with ${error?.message}`)
  return result
}
