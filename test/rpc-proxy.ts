import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type RpcCall = { id: number; method: string; params: unknown[] }

// Longer than any client keeps an idle connection, so that no request is sent on a closing one.
const KEEP_ALIVE_MS = 65_000

/** The handling of a request: forwarded, dropped, or forwarded with its reply dropped. */
type ProxyAction = 'forward' | 'dropRequest' | 'dropReply'

export type RpcProxy = {
  url: string
  /** Decides about every request that contains one of these calls. */
  onCall(decide: ((call: RpcCall) => ProxyAction | Promise<ProxyAction>) | undefined): void
  stop(): Promise<void>
}

/** A proxy between the service and a node that drops requests and replies as a test demands. */
export async function startRpcProxy(targetUrl: () => string): Promise<RpcProxy> {
  let decide: ((call: RpcCall) => ProxyAction | Promise<ProxyAction>) | undefined

  async function fateOf(body: string): Promise<ProxyAction> {
    if (!decide) return 'forward'
    const parsed: RpcCall | RpcCall[] = JSON.parse(body)
    const fates = await Promise.all([parsed].flat().map(decide))
    return fates.find((fate) => fate !== 'forward') ?? 'forward'
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request)
    const fate = await fateOf(body)
    if (fate === 'dropRequest') return void response.destroy()
    const reply = await fetch(targetUrl(), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const text = await reply.text()
    if (fate === 'dropReply') return void response.destroy()
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(text)
  }

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    onCall(next) {
      decide = next
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
