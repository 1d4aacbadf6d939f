import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../errors.ts'
import { type Asset, isLocalRequest, type LocalNetwork, toAsset } from './assets.ts'

/** The page at /app: its files and its settings. */
export type WebPage = {
  assets: ReadonlyMap<string, Asset>
  settings: WebSettings
  /** Only on a local network. */
  readLocal?: (() => Promise<LocalNetwork | undefined>) | undefined
  /** Only on the operator's listener, where the page is the dashboard. It gets the key only on a local network. */
  operator?: { localKey?: string | undefined }
}

type WebSettings = {
  rpcUrls: Readonly<Record<string, string>>
  txUrls: Readonly<Record<string, string>>
  /** By chain: contracts that the page's wallets may sign for. */
  contracts: Readonly<Record<string, { account?: string; escrow: string; vault: string }>>
  local?: Pick<LocalNetwork, 'apiKey' | 'faucetUrl'>
  operator?: { key?: string }
}

const METHODS = ['GET', 'HEAD']
// A file name with a hash never changes its content.
const FOREVER = 'public, max-age=31536000, immutable'

/** Adds /app and everything below. The page needs no API key; its calls do. */
export function addWeb(app: FastifyInstance, { basePath, page }: { basePath: string; page: WebPage }): void {
  const getAsset = (path: string): Asset => {
    const asset = page.assets.get(path)
    if (!asset) throw new ServiceError('NOT_FOUND')
    return asset
  }
  const sendPage = async (request: FastifyRequest, reply: FastifyReply, asset = getAsset('index.html')) => {
    const settings = await readSettings(page, request)
    const named = [...Object.values(settings.rpcUrls), settings.local?.faucetUrl]
    reply.header('content-security-policy', pagePolicy(originsOf(named)))
    reply.header('cache-control', 'no-cache')
    return sendAsset(request, reply, asset)
  }

  app.register(async (scope) => {
    scope.addHook('onRequest', async (_request, reply) => {
      reply.header('referrer-policy', 'no-referrer')
      reply.header('cross-origin-resource-policy', 'same-origin')
    })
    const get = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>) =>
      scope.route({ method: METHODS, url, handler })

    get('/app', async (_request, reply) => reply.redirect(`${basePath}/app/`))
    get('/app/', (request, reply) => sendPage(request, reply))
    // All views are one page, which knows its own views.
    get('/app/:view', (request, reply) => sendPage(request, reply))
    get('/app/*', (request, reply) => {
      const { '*': rest } = request.params as { '*': string }
      return sendPage(request, reply.code(404), fromDepth(getAsset('index.html'), rest.split('/').length - 1))
    })
    get('/app/network.json', (request) => readSettings(page, request))
    get('/app/assets/:name', async (request, reply) => {
      const { name } = request.params as { name: string }
      const asset = getAsset(`assets/${name}`)
      reply.header('cache-control', FOREVER)
      return sendAsset(request, reply, asset)
    })
  })
}

/** The page for an address further below: it names its files relative to the address. */
function fromDepth({ body }: Asset, depth: number): Asset {
  const html = body.toString().replaceAll('="assets/', `="${'../'.repeat(depth)}assets/`)
  return toAsset('index.html', Buffer.from(html))
}

async function readSettings(page: WebPage, request: FastifyRequest): Promise<WebSettings> {
  const { settings, readLocal, operator } = page
  if (operator) {
    const { localKey } = operator
    return {
      ...settings,
      operator: localKey !== undefined && isLocalRequest(request) ? { key: localKey } : {},
    }
  }
  const local = readLocal && isLocalRequest(request) ? await readLocal() : undefined
  if (!local) return settings
  const { apiKey, faucetUrl, rpcUrls } = local
  return { ...settings, rpcUrls: { ...rpcUrls, ...settings.rpcUrls }, local: { apiKey, faucetUrl } }
}

function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset): FastifyReply {
  reply.header('etag', asset.etag).header('vary', 'accept-encoding, origin')
  if (request.headers['if-none-match'] === asset.etag) return reply.code(304).send()
  const takesGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  if (takesGzip) reply.header('content-encoding', 'gzip')
  return reply.type(asset.type).send(takesGzip ? asset.gzip : asset.body)
}

/** The content security policy: the page may use this server and exactly these origins. */
function pagePolicy(origins: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // Wallets of the browser bring their icons as data.
    "img-src 'self' data:",
    ["connect-src 'self'", ...origins].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')
}

function originsOf(urls: readonly (string | undefined)[]): string[] {
  return [...new Set(urls.filter((url) => url !== undefined).map((url) => new URL(url).origin))]
}
