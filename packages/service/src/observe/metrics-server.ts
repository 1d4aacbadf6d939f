import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registry } from 'prom-client'

export type MetricsServer = { port: number; close(): Promise<void> }

type Shown = { metrics: { port: number; host: string } }

/** Serves /metrics and /health of a process without an API; does nothing without a port. */
export async function showMetrics(
  registry: Registry,
  { metrics: { port, host } }: Shown,
): Promise<MetricsServer | undefined> {
  if (port === 0) return undefined
  const server = createServer(async (request, reply) => {
    if (request.url === '/health') return void reply.end('{"status":"ok"}\n')
    if (request.url !== '/metrics') return void reply.writeHead(404).end()
    const text = await registry.metrics().catch(() => undefined)
    if (text === undefined) return void reply.writeHead(500).end()
    reply.writeHead(200, { 'content-type': registry.contentType }).end(text)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
