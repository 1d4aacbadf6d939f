import type { FastifyInstance } from 'fastify'
import type { Registry } from 'prom-client'

export type Readiness = { ok: boolean; checks: Record<string, unknown> }
type Options = { ready(): Promise<Readiness>; registry: Registry; isClosing(): boolean }

const READY_TIMEOUT_MS = 2_000

/** /health: the process answers. /ready: what it depends on does too. /metrics: for Prometheus. */
export function addHealth(app: FastifyInstance, { ready, registry, isClosing }: Options): void {
  const methods = ['GET', 'HEAD']
  app.route({ method: methods, url: '/health', handler: async () => ({ status: 'ok' }) })
  app.route({
    method: methods,
    url: '/ready',
    handler: async (_request, reply) => {
      const { ok, checks } = isClosing() ? { ok: false, checks: { closing: true } } : await withTimeout(ready)
      return reply.code(ok ? 200 : 503).send({ status: ok ? 'ready' : 'not ready', checks })
    },
  })
  app.route({
    method: methods,
    url: '/metrics',
    handler: async (_request, reply) => {
      reply.type(registry.contentType)
      return registry.metrics()
    },
  })
}

async function withTimeout(ready: () => Promise<Readiness>): Promise<Readiness> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Readiness>((resolve) => {
    timer = setTimeout(resolve, READY_TIMEOUT_MS, { ok: false, checks: { timeout: true } })
  })
  const asked = ready().catch((): Readiness => ({ ok: false, checks: { failed: true } }))
  return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}
