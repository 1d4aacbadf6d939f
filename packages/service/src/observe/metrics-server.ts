import { createServer } from 'node:http'
import type { Registry } from 'prom-client'

export type MetricsServer = { close(): Promise<void> }

type Listening = { metrics: { port: number; host: string } }
/** Whether the process can work, and the state of each thing it needs. */
type Ready = { ok: boolean; checks: Record<string, unknown> }

type Answer = { status: number; type: string; text: string }

/** Serves /metrics, /health and /ready of a process without an API; does nothing if the port is 0. */
export async function serveMetrics(
  registry: Registry,
  { metrics: { port, host } }: Listening,
  ready: () => Promise<Ready>,
): Promise<MetricsServer | undefined> {
  if (port === 0) return undefined
  const server = createServer(async (request, reply) => {
    const failed = { status: 500, type: 'text/plain', text: '' }
    const { status, type, text } = await answer(request.url, { registry, ready }).catch(() => failed)
    reply.writeHead(status, { 'content-type': type }).end(text)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return {
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

type Sources = { registry: Registry; ready(): Promise<Ready> }

async function answer(path: string | undefined, { registry, ready }: Sources): Promise<Answer> {
  if (path === '/metrics') return { status: 200, type: registry.contentType, text: await registry.metrics() }
  if (path === '/health') return json(200, { status: 'ok' })
  if (path !== '/ready') return { status: 404, type: 'text/plain', text: '' }
  const { ok, checks } = await ready()
  return json(ok ? 200 : 503, { status: ok ? 'ready' : 'not ready', checks })
}

function json(status: number, body: object): Answer {
  return { status, type: 'application/json; charset=utf-8', text: `${JSON.stringify(body)}\n` }
}
