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
  TERMINAL_STATUSES,
  WEBHOOK_TYPES,
  withoutReferences,
} from './index.ts'

const all: readonly Endpoint[] = Object.values(endpoints)

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

/** How often the document has this schema. */
function countOf(document: unknown, schema: unknown): number {
  return JSON.stringify(document).split(JSON.stringify(schema)).length - 1
}

type Field = [name: string, schema: { type?: string | string[]; pattern?: string }]

/** The fields of all bodies, and the parameters of the query. */
function collectFields(node: unknown): Field[] {
  if (typeof node !== 'object' || node === null) return []
  const { name, schema, properties = {} } = node as { name?: string; schema?: Field[1]; properties?: object }
  const own =
    name !== undefined && schema && 'in' in node && node.in === 'query' ? [[name, schema] as Field] : []
  // CAIP ids have the names of their numbers.
  const numbers = Object.entries(node).filter(([key]) => key !== 'caip')
  const inside = numbers.flatMap(([, each]) => collectFields(each))
  return [...own, ...Object.entries(properties), ...inside]
}

type Example = { schema: unknown; example: unknown }

/** Each example beside its schema, in bodies and parameters. */
function collectExamples(node: unknown): Example[] {
  if (typeof node !== 'object' || node === null) return []
  const { schema, example, examples } = node as Partial<Example> & {
    examples?: Record<string, { value: unknown }>
  }
  const inside = Object.values(node).flatMap(collectExamples)
  const several =
    schema && examples ? Object.values(examples).map(({ value }) => ({ schema, example: value })) : []
  return [...inside, ...several, ...(schema && example !== undefined ? [{ schema, example }] : [])]
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
  const whole = withoutReferences(openApi)
  const operations = Object.values<Record<string, Record<string, never>>>(openApi.paths).flatMap(
    Object.values,
  )

  test('it describes every call, behind the API key or the signature of a wallet', () => {
    expect(openApi.openapi).toBe('3.1.0')
    expect(operations.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(endpoints).sort())
    expect(openApi.components.securitySchemes.apiKey).toEqual({
      type: 'apiKey',
      in: 'header',
      name: 'x-api-key',
    })
    expect(openApi.security).toEqual([{ apiKey: [] }, { walletSignature: [] }])
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

  test('the webhook it describes is valid, and each terminal status has a type of its own', () => {
    const { schema, example } = whole.webhooks.swapChanged.post.requestBody.content['application/json']

    expect(Schema.Check(schema, example)).toBe(true)
    expect(WEBHOOK_TYPES).toEqual(expect.arrayContaining(TERMINAL_STATUSES.map((status) => `swap.${status}`)))
  })

  test('it has a licence and a contact', () => {
    expect(openApi.info).toMatchObject({
      license: { identifier: 'MIT' },
      contact: { name: expect.any(String) },
    })
  })

  test('every body is a named schema, and no named schema has a copy', () => {
    const bodies = operations.flatMap(({ requestBody, responses }) => [
      ...(requestBody ? [requestBody] : []),
      ...(responses ? [responses['200']] : []),
    ])
    const schemas = bodies.flatMap(({ content }: { content: Record<string, { schema: object }> }) =>
      content['application/json'] ? [content['application/json'].schema] : [],
    )
    const copies = Object.entries<Fields>(openApi.components.schemas).filter(
      ([, schema]) => schema.properties && countOf(openApi, schema) > 1,
    )

    expect(schemas.length).toBeGreaterThan(10)
    for (const schema of schemas) expect(Object.keys(schema)).toEqual(['$ref'])
    expect(copies.map(([name]) => name)).toEqual([])
  })

  test('whole numbers are integers, in the query too', () => {
    const named = ['chainId', 'limit', 'lastEventId', 'nonce', 'etaSeconds', 'priceImpactBps', 'decimals']
    const fields = collectFields(whole).filter(([name]) => named.includes(name))

    expect(new Set(fields.map(([name]) => name))).toEqual(new Set(named))
    // EIP-5792 has its numbers in hex.
    const own = fields.filter(([, { pattern }]) => pattern !== '^0x[0-9a-f]+$')
    for (const [name, { type }] of own) expect([type].flat(), name).toContain('integer')
  })

  test('every example is valid', () => {
    const examples = collectExamples(whole)

    expect(examples.length).toBeGreaterThan(30)
    for (const { schema, example } of examples)
      expect(Schema.Check(schema as never, example), JSON.stringify(example)).toBe(true)
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
