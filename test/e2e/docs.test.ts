import { endpoints, errorCatalogue } from '@geoswap/wire'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient, refusalOf } from '../checked-client.ts'
import { createOperator } from '../operator.ts'

const local = inject('local')
let api: CheckedClient
beforeAll(async () => {
  api = createCheckedClient({ ...local, apiKey: await createOperator(inject('databaseUrl')).createKey() })
})

type Json = { [key: string]: unknown }
type Operation = {
  operationId: string
  responses: Record<string, Json>
  requestBody?: Json
  parameters?: Json[]
}
type OpenApi = { openapi: string; paths: Record<string, Record<string, Operation>>; [key: string]: unknown }

const open = async (path: string) => fetch(`${local.apiUrl}${path}`)
const readOpenApi = async () => (await (await open('/openapi.json')).json()) as OpenApi

describe('/.well-known/', () => {
  const stringsIn = (value: unknown): string[] =>
    typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(stringsIn)
      : [value].filter((each) => typeof each === 'string')

  test.each(['agent-card.json', 'agent-registration.json', 'agent-skills/index.json'])(
    'a stranger reads %s, and what it names here is there',
    async (name) => {
      const answer = await open(`/.well-known/${name}`)
      const document = await answer.json()

      const named = stringsIn(document).filter(
        (text) => text.startsWith(local.apiUrl) || text.startsWith('/'),
      )
      const found = await Promise.all(named.map((url) => fetch(new URL(url, local.apiUrl))))
      expect([answer.status, named.length > 0]).toEqual([200, true])
      expect(found.map(({ url, status }) => `${status} ${url}`)).toEqual(found.map(({ url }) => `200 ${url}`))
    },
  )
})

describe('/openapi.json', () => {
  test('is OpenAPI 3.1 with a title, a server, a key or signature, and unique operation ids', async () => {
    const document = await readOpenApi()

    expect(document.openapi).toMatch(/^3\.1\.\d+$/)
    expect(document).toMatchObject({
      info: { title: 'geoswap', version: expect.any(String) },
      servers: [{ url: expect.any(String) }],
      security: [{ apiKey: [] }, { walletSignature: [] }],
      components: { securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } } },
    })
    const ids = operationsOf(document).map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('lists every call, with its body, its parameters and every error it can answer', async () => {
    const document = await readOpenApi()

    const listed = operationsOf(document).map(({ method, path }) => `${method} ${path}`)
    expect(listed.sort()).toEqual([
      ...[
        'GET /swap/capabilities',
        'GET /swap/chains',
        'GET /swap/delegation',
        'GET /swap/delegation/{chainId}/{walletAddress}',
      ],
      ...['GET /swap/history', 'GET /swap/status/{swapId}'],
      ...['GET /swap/status/{swapId}/events', 'GET /swap/tokens', 'GET /swap/x402'],
      'POST /swap/build-geo-op',
      ...['POST /swap/build-solana-tx', 'POST /swap/quote', 'POST /swap/submit', 'POST /swap/submit-solana'],
      'POST /swap/x402',
    ])
    for (const { id, method, path, errors } of Object.values(endpoints)) {
      const operation = document.paths[path]?.[method.toLowerCase()]
      expect(operation?.operationId).toBe(id)
      expect(operation?.requestBody !== undefined).toBe(method === 'POST')
      for (const code of errors) {
        const response = operation?.responses[errorCatalogue[code].status]
        expect(response?.description).toContain(code)
      }
    }
  })

  test('every reference can be resolved', async () => {
    const document = await readOpenApi()

    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, path]) => path ?? '',
    )

    expect(references.length).toBeGreaterThan(0)
    for (const reference of new Set(references)) expect(resolve(document, reference)).toBeDefined()
  })
})

function operationsOf(document: OpenApi) {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
}

function resolve(document: OpenApi, reference: string): unknown {
  const parts = reference.replace(/^#\//, '').split('/')
  return parts.reduce<unknown>((value, part) => (value as Json | undefined)?.[part], document)
}

describe('pages without a key', () => {
  test('/docs shows the reference, runs one script of its own and loads nothing from another host', async () => {
    const response = await open('/docs/')
    const page = await response.text()

    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^text\/html/)
    const policy = response.headers.get('content-security-policy')
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^;]+; script-src 'sha256-[^ ;]+';/)
    expect(page).toContain('openapi.json')
    expect(page).not.toMatch(/(src|href)\s*=\s*["'](https?:)?\/\//i)
    expect(page.match(/<script[^>]*>/gi)).toEqual(['<script>'])
  })

  test('/docs is the same without its slash', async () => {
    const response = await open('/docs')

    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^text\/html/)
  })

  test('/health and /ready answer, and / links to the documentation', async () => {
    expect(await (await open('/health')).json()).toEqual({ status: 'ok' })
    const ready = await open('/ready')
    expect(ready.status).toBe(200)
    expect(await ready.json()).toMatchObject({
      status: 'ready',
      checks: { database: true, chains: { alpha: true, beta: true, solana: true } },
    })
    expect(await (await open('/')).json()).toMatchObject({ name: 'geoswap', docs: '/docs/' })
  })

  test('/metrics has the request times, faults, swaps, liquidity and relayer balances', async () => {
    const metrics = await (await open('/metrics')).text()

    const names = [...metrics.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name)
    expect(names).toEqual(
      expect.arrayContaining([
        ...['geoswap_http_request_duration_seconds', 'geoswap_faults_total', 'geoswap_held_status_reads'],
        ...['geoswap_swaps', 'geoswap_inventory', 'geoswap_relayer_balance', 'process_cpu_seconds_total'],
        ...['geoswap_webhook_attempts_total', 'geoswap_webhook_deliveries', 'geoswap_webhook_endpoints'],
      ]),
    )
    expect(metrics).not.toContain(local.apiKey.split('_')[3])
  })

  test('every reply has a unique request id', async () => {
    const replies = await Promise.all(
      ['/', '/health', '/ready', '/openapi.json', '/docs/', '/nowhere'].map(open),
    )

    const ids = replies.map((reply) => reply.headers.get('x-request-id'))
    expect(ids.every((id) => id?.startsWith('req_'))).toBe(true)
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('paths', () => {
  const keyed = () => ({ 'x-api-key': api.apiKey })

  test.each(['/nowhere', '/swapx', '/swap/nothing', '/swap/', '/swap/quote/', '/SWAP/quote', '/swap//quote'])(
    '404 NOT_FOUND for %s',
    async (path) => {
      expect(refusalOf(await api.send({ method: 'GET', path, headers: keyed() }))).toBe('404 NOT_FOUND')
    },
  )

  const others: [string, string, string][] = [
    ['GET', '/swap/quote', 'POST'],
    ['DELETE', '/swap/submit', 'POST'],
    ['PUT', '/swap/build-geo-op', 'POST'],
    ['PATCH', '/swap/build-solana-tx', 'POST'],
    ['POST', '/swap/chains', 'GET'],
    ['POST', '/swap/tokens', 'GET'],
    ['POST', '/swap/delegation', 'GET'],
    ['POST', '/swap/status/swp_1', 'GET'],
    ['POST', '/swap/status/swp_1/events', 'GET'],
    ['POST', '/swap/history', 'GET'],
    ['OPTIONS', '/swap/quote', 'POST'],
    ['POST', '/health', 'GET, HEAD'],
    ['DELETE', '/openapi.json', 'GET, HEAD'],
  ]
  test.each(others)('405 METHOD_NOT_ALLOWED for %s %s, which takes %s', async (method, path, allow) => {
    const reply = await api.send({ method, path, headers: keyed() })

    expect(refusalOf(reply)).toBe('405 METHOD_NOT_ALLOWED')
    expect(reply.headers.get('allow')).toBe(allow)
  })
})
