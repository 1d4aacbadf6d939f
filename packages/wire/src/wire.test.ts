import Schema from 'typebox/schema'
import { describe, expect, test } from 'vitest'
import {
  BODY_ERRORS,
  createOpenApi,
  type Endpoint,
  ERROR_CODES,
  ErrorReply,
  endpoints,
  errorCatalogue,
  SHARED_ERRORS,
  SUBSTATUSES,
  type Substatus,
  SWAP_STATUSES,
  WEBHOOK_TYPES,
  webhookTypeOf,
} from './index.ts'

const all: readonly Endpoint[] = Object.values(endpoints)
/** Substatuses that only an ended swap can have. */
const ENDS: readonly Substatus[] = ['delivered', 'refunded', 'failed']

describe.each(all)('$method $path', ({ body, query, reply, example }) => {
  test('its examples are valid', () => {
    if (body) expect(Schema.Check(body, example.body)).toBe(true)
    if (query) expect(Schema.Check(query, example.query)).toBe(true)
    expect(Schema.Check(reply, example.reply)).toBe(true)
  })

  test('a field it does not know is refused', () => {
    if (body) expect(Schema.Check(body, { ...Object(example.body), other: 1 })).toBe(false)
    if (query) expect(Schema.Check(query, { ...example.query, other: '1' })).toBe(false)
  })
})

type Fields = { properties?: Record<string, Fields> }

function namesIn({ properties = {} }: Fields): string[] {
  return Object.entries(properties).flatMap(([name, inner]) => [name, ...namesIn(inner)])
}

test('no call accepts a URL that the service would call', () => {
  const names = all.flatMap(({ body, query }) =>
    [body, query].flatMap((schema) => namesIn((schema ?? {}) as Fields)),
  )

  expect(names).toContain('yParity')
  expect(names.filter((name) => /ur[il]|host|endpoint|callback|webhook|metadata/i.test(name))).toEqual([])
})

test('every status of the catalogue is one that clients can handle, and 5xx and 429 can be retried', () => {
  for (const { status, retryable } of Object.values(errorCatalogue)) {
    expect(status).toBeGreaterThanOrEqual(400)
    if (status === 429 || status >= 500) expect(retryable).toBe(true)
    if (status === 400 || status === 401 || status === 404) expect(retryable).toBe(false)
  }
})

test('every code is returned by some call, or says that there is no such call', () => {
  const answered = new Set([...SHARED_ERRORS, ...BODY_ERRORS, ...all.flatMap(({ errors }) => errors)])

  expect(ERROR_CODES.filter((code) => !answered.has(code))).toEqual(['NOT_FOUND'])
})

describe('OpenAPI', () => {
  const openApi = JSON.parse(JSON.stringify(createOpenApi({ serverUrl: '/base' })))
  const operations = Object.values<Record<string, Record<string, never>>>(openApi.paths).flatMap(
    Object.values,
  )

  test('it describes every call, behind the API key', () => {
    expect(openApi.openapi).toBe('3.1.0')
    expect(operations.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(endpoints).sort())
    expect(openApi.components.securitySchemes.apiKey).toEqual({
      type: 'apiKey',
      in: 'header',
      name: 'x-api-key',
    })
    expect(openApi.security).toEqual([{ apiKey: [] }])
  })

  test('every error example is a valid error', () => {
    const examples = operations.flatMap(({ responses }) =>
      Object.values<{ content: { 'application/json'?: { examples?: Record<string, { value: unknown }> } } }>(
        responses ?? {},
      ).flatMap(({ content }) => Object.values(content['application/json']?.examples ?? {})),
    )

    expect(examples.length).toBeGreaterThan(50)
    for (const { value } of examples) expect(Schema.Check(ErrorReply, value)).toBe(true)
  })

  test('the webhook it describes is valid, and every status of a swap has a type', () => {
    const { schema, example } = openApi.webhooks.swapChanged.post.requestBody.content['application/json']
    const types = SWAP_STATUSES.flatMap((status) =>
      SUBSTATUSES.filter((substatus) => status !== 'pending' || !ENDS.includes(substatus)).map((substatus) =>
        webhookTypeOf({ status, substatus }),
      ),
    )

    expect(Schema.Check(schema, example)).toBe(true)
    expect(new Set(types)).toEqual(new Set(WEBHOOK_TYPES))
  })

  test('every reference can be resolved', () => {
    const references = JSON.stringify(openApi).match(/#\/[\w/-]+/g) ?? []
    const lookUp = (reference: string) =>
      reference
        .slice(2)
        .split('/')
        .reduce((node: Record<string, never>, part) => node?.[part] ?? {}, openApi)

    for (const reference of new Set(references))
      expect(Object.keys(lookUp(reference)), reference).not.toEqual([])
  })
})
