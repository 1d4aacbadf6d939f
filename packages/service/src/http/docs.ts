import { createOpenApi } from '@geoswap/wire'
import type { FastifyInstance } from 'fastify'

// The page needs inline script and style; everything it loads comes from this server.
const PAGE_POLICY = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "worker-src 'self' blob:",
  "frame-ancestors 'none'",
].join('; ')

/** /openapi.json, the reference at /docs that needs no other host, and a page that links to them. */
export async function addDocs(
  app: FastifyInstance,
  { basePath, hasWeb }: { basePath: string; hasWeb: boolean },
): Promise<void> {
  const openApi = Buffer.from(JSON.stringify(createOpenApi({ serverUrl: basePath || '/' })))
  app.route({
    method: ['GET', 'HEAD'],
    url: '/openapi.json',
    handler: async (_request, reply) => reply.type('application/json; charset=utf-8').send(openApi),
  })
  app.route({
    method: ['GET', 'HEAD'],
    url: '/',
    handler: async (_request, reply) => reply.send(landing(basePath, hasWeb)),
  })
  await addReference(app, basePath)
}

async function addReference(app: FastifyInstance, basePath: string): Promise<void> {
  // Its script has megabytes: loaded only where the page is served.
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const encode = createEncoder()
  await app.register(async (scope) => {
    scope.addHook('onSend', async (_request, reply, payload) => {
      reply.header('content-security-policy', PAGE_POLICY)
      reply.header('referrer-policy', 'no-referrer')
      if (!String(reply.getHeader('content-type')).includes('javascript')) return payload
      reply.header('cache-control', 'public, max-age=3600')
      return encode(String(payload))
    })
    await scope.register(reference, {
      routePrefix: '/docs',
      configuration: {
        url: `${basePath}/openapi.json`,
        pageTitle: 'geoswap API',
        favicon: 'data:,',
        withDefaultFonts: false,
        telemetry: false,
        hideClientButton: true,
        agent: { disabled: true },
        mcp: { disabled: true },
      },
    })
  })
}

/**
 * Text that is always the same, encoded once: every caller who is slow to read a string of megabytes would otherwise
 * hold bytes of its own.
 */
function createEncoder(): (text: string) => Buffer {
  let known: { text: string; bytes: Buffer } | undefined
  return (text) => {
    if (known?.text !== text) known = { text, bytes: Buffer.from(text) }
    return known.bytes
  }
}

function landing(basePath: string, hasWeb: boolean) {
  return {
    name: 'geoswap',
    description: 'Gasless token swaps across chains: quote, sign once, delivered or refunded.',
    ...(hasWeb && { app: `${basePath}/app/` }),
    docs: `${basePath}/docs/`,
    openapi: `${basePath}/openapi.json`,
    health: `${basePath}/health`,
    ready: `${basePath}/ready`,
  }
}
