import { createHash } from 'node:crypto'
import { createOpenApi, product, withoutReferences } from '@geoswap/wire'
import type { FastifyInstance } from 'fastify'
import { guides } from './guides.gen.ts'
import { type OpenApi, renderReference } from './reference.ts'

const STYLE = `
:root {
  color-scheme: light dark;
  background: light-dark(#fff, #0f1514);
  color: light-dark(#16201e, #e9efed);
  font: 16px/1.5 system-ui, sans-serif;
}
a { color: light-dark(#0b6b62, #63d6c7) }
:focus-visible { outline: 2px solid; outline-offset: 2px }
body { margin: 0 auto; max-width: 64rem; padding: 1rem }
nav ul { columns: 2 16rem; padding-left: 1.25rem }
section, h2 { margin-top: 3rem }
code, pre { font: 0.9em/1.5 ui-monospace, monospace }
.call { border: 1px solid; border-radius: 4px; padding: 0.25rem 0.5rem }
.call, nav a, h2, p { overflow-wrap: anywhere }
.wide, pre { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
th, td { border-bottom: 1px solid #8886; padding: 0.25rem 0.75rem 0.25rem 0; text-align: left; vertical-align: top }
th { font-weight: 600; white-space: nowrap }
.example { border: 1px solid #8886; border-radius: 4px; margin: 1rem 0; padding: 0 0.75rem }
.example p { align-items: center; display: flex; justify-content: space-between; margin: 0.5rem 0 0; min-height: 2rem }
.example pre { margin: 0.5rem 0 0.75rem; max-height: 24rem; overflow-y: auto }
.copy { background: none; border: 1px solid; border-radius: 4px; color: inherit; cursor: pointer; font: inherit }
.unseen { clip-path: inset(50%); height: 1px; overflow: hidden; position: absolute; white-space: nowrap; width: 1px }
`

// Without the clipboard, which needs https, there are no buttons.
const SCRIPT = `
for (const button of navigator.clipboard ? document.querySelectorAll('.copy') : []) {
  const [words] = button.childNodes
  button.hidden = false
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.closest('.example').querySelector('pre').textContent)
    words.data = 'Copied'
    setTimeout(() => { words.data = 'Copy' }, 1500)
  })
}
`

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

// This page must not reach the data that /app stores for the same host: no other script runs, and none can send.
const PAGE_POLICY = [
  "default-src 'none'",
  `style-src ${hashOf(STYLE)}`,
  `script-src ${hashOf(SCRIPT)}`,
  "require-trusted-types-for 'script'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Adds /openapi.json, the reference generated from it at /docs, a landing page, and the texts for agents. */
export async function addDocs(
  app: FastifyInstance,
  { basePath, hasWeb }: { basePath: string; hasWeb: boolean },
): Promise<void> {
  const document = createOpenApi({ serverUrl: basePath || '/' })
  // Encoded once: otherwise every slow reader of a string would hold a copy.
  const openApi = Buffer.from(JSON.stringify(document))
  const page = { openApiUrl: `${basePath}/openapi.json`, style: STYLE, script: SCRIPT }
  const reference = Buffer.from(renderReference(withoutReferences(document) as OpenApi, page))
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
  for (const [url, text] of Object.entries(guides)) addGuide(app, url, Buffer.from(text))
  for (const url of ['/docs', '/docs/'])
    app.route({
      method: ['GET', 'HEAD'],
      url,
      handler: async (_request, reply) =>
        reply
          .header('content-security-policy', PAGE_POLICY)
          .header('referrer-policy', 'no-referrer')
          .type('text/html; charset=utf-8')
          .send(reference),
    })
}

function addGuide(app: FastifyInstance, url: string, text: Buffer): void {
  const type = url.endsWith('.md') ? 'text/markdown' : 'text/plain'
  app.route({
    method: ['GET', 'HEAD'],
    url,
    handler: async (_request, reply) => reply.type(`${type}; charset=utf-8`).send(text),
  })
}

function landing(basePath: string, hasWeb: boolean) {
  return {
    name: product.name,
    description: product.description,
    app: hasWeb ? `${basePath}/app/` : undefined,
    docs: `${basePath}/docs/`,
    openapi: `${basePath}/openapi.json`,
    llms: `${basePath}/llms.txt`,
    health: `${basePath}/health`,
    ready: `${basePath}/ready`,
  }
}
