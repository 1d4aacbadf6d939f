/** Makes one JSON-RPC call to a node. */
export async function callNode<T>(url: string, method: string, params: readonly unknown[]): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result?: T; error?: { message: string } }
  if (error) throw new Error(`The node refused ${method}: ${error.message}`)
  return result as T
}
