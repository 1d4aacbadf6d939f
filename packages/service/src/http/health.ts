import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import type { Registry } from 'prom-client'
import { createRecent } from '../async/cache.ts'

export type Readiness = { ok: boolean; checks: Record<string, unknown> }
type Options = { ready(): Promise<Readiness>; registry: Registry; isClosing(): boolean }

const READY_TIMEOUT_MS = 2_000
// Both query the database, and metrics also nodes. They need no key, so concurrent requests share one answer.
const READY_SHARED_MS = 200
const METRICS_SHARED_MS = 1_000

/** /health: the process answers. /ready: its dependencies answer too. /metrics: for Prometheus. */
export const HEALTH_PATHS = ['/health', '/ready', '/metrics']

/** Adds the health paths below each prefix. */
export function addHealth(app: FastifyInstance, prefixes: ReadonlySet<string>, options: Options): void {
  const answers = createAnswers(options)
  for (const prefix of prefixes)
    for (const [path, handler] of Object.entries(answers))
      app.route({ method: ['GET', 'HEAD'], url: `${prefix}${path}`, handler })
}

function createAnswers({ ready, registry, isClosing }: Options): Record<string, RouteHandlerMethod> {
  const readiness = createRecent(READY_SHARED_MS, () => withTimeout(ready))
  const metrics = createRecent(METRICS_SHARED_MS, () => registry.metrics())
  return {
    '/health': async () => ({ status: 'ok' }),
    '/ready': async (_request, reply) => {
      const { ok, checks } = isClosing() ? { ok: false, checks: { closing: true } } : await readiness.read()
      return reply.code(ok ? 200 : 503).send({ status: ok ? 'ready' : 'not ready', checks })
    },
    '/metrics': async (_request, reply) => {
      reply.type(registry.contentType)
      return metrics.read()
    },
  }
}

async function withTimeout(ready: () => Promise<Readiness>): Promise<Readiness> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Readiness>((resolve) => {
    timer = setTimeout(resolve, READY_TIMEOUT_MS, { ok: false, checks: { timeout: true } })
  })
  const asked = ready().catch((): Readiness => ({ ok: false, checks: { failed: true } }))
  return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}
