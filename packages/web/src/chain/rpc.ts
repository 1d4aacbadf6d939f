export type NodeCall = { method: string; params: readonly unknown[] }
type Reply = { id: number; result?: unknown; error?: { message: string } }

/** Makes one JSON-RPC call to a node. */
export async function callNode<T>(url: string, method: string, params: readonly unknown[]): Promise<T> {
  const reply = await post<Reply>(url, { jsonrpc: '2.0', id: 1, method, params })
  return resultOf({ method, params }, reply) as T
}

/** Makes several calls in one request. The results have the order of the calls. */
export async function callNodeBatch(url: string, calls: readonly NodeCall[]): Promise<unknown[]> {
  const replies = await post<Reply[]>(
    url,
    calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })),
  )
  if (!Array.isArray(replies)) throw new Error('The node takes no batch of calls.')
  return calls.map((call, id) =>
    resultOf(
      call,
      replies.find((reply) => reply.id === id),
    ),
  )
}

async function post<T>(url: string, body: unknown): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await response.json()) as T
}

function resultOf({ method }: NodeCall, reply: Reply | undefined): unknown {
  if (!reply) throw new Error(`The node did not answer ${method}.`)
  if (reply.error) throw new Error(`The node refused ${method}: ${reply.error.message}`)
  return reply.result
}
