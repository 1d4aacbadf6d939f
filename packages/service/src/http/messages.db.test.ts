import { type Endpoint, endpoints } from '@geoswap/wire'
import Schema from 'typebox/schema'
import { afterAll, describe, expect, test } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import { expectPlainWords } from '../../test/support/http-errors.ts'
import { createTestServer } from '../../test/support/http-server.ts'
import { familyOf, familyOfAddress } from '../chains/families.ts'
import { delegation } from '../stages/build/delegation.ts'
import { history } from '../stages/history/history.ts'
import { type AddressesOf, toOrder } from '../stages/quote/request.ts'
import { createStatusStreams } from '../stages/status/streams.ts'
import type { Catalog, CatalogChain } from '../swap/catalog.ts'

type Json = Record<string, unknown>
type Field = { type?: string; properties?: Record<string, Field>; required?: string[] }
/** Where the fields of a call are sent. */
type Place = 'body' | 'query' | 'params' | 'headers'
type Reply = { status: number; message: string; issues: { field: string; message: string }[] }

const chainOf = (chainId: number, family: CatalogChain['family'], address: string): CatalogChain => ({
  ...{ chainId, name: `chain ${chainId}`, family, tokens: [], ownAddresses: [], maxAmount: 10n ** 30n },
  ...{ blockSeconds: 1, finality: { accept: [], settle: 1, reorgWindowSeconds: 1, hard: 1, hardSeconds: 1 } },
  native: { chainId, address, asset: 'COIN', symbol: 'COIN', decimals: 9 },
})
const catalog: Catalog = {
  chains: new Map([
    [31_337, chainOf(31_337, 'evm', `0x${'0'.repeat(40)}`)],
    [31_338, chainOf(31_338, 'evm', `0x${'0'.repeat(40)}`)],
    [31_339, chainOf(31_339, 'solana', '1'.repeat(32))],
  ]),
  assets: new Map(),
}
const addressesOf: AddressesOf = (chain) => familyOf(chain).addresses
const unreached = () => {
  throw new Error('A wrong request went on')
}

const statusStreams = createStatusStreams({
  readEvents: async (keys) => keys.map(() => undefined),
  findMoved: unreached,
  onError: unreached,
})

const database = useTestDatabase()

// The real functions check the rest, after the schemas.
const { app, headers: key } = await createTestServer({
  statusStreams,
  x402: { account: 'test', callsPerMinute: 600_000 },
  handlers: {
    chains: () => endpoints.chains.example.reply,
    tokens: () => endpoints.tokens.example.reply,
    quote(_caller, body) {
      toOrder(catalog, addressesOf, body)
      return endpoints.quote.example.reply
    },
    delegation: (_caller, query) =>
      delegation(
        {
          catalog,
          addressesOf,
          originOf: unreached,
          delegationTargetOf: unreached,
          rememberDelegated: unreached,
        },
        query,
      ),
    buildGeoOp: () => endpoints.buildGeoOp.example.reply,
    buildSolanaTx: () => endpoints.buildSolanaTx.example.reply,
    submit: () => endpoints.submit.example.reply,
    submitSolana: () => endpoints.submitSolana.example.reply,
    x402: async () => ({ status: 200, headers: {}, body: endpoints.x402.example.reply }),
    async history(caller, query) {
      const parseWallet = (text: string) => familyOfAddress(text)?.addresses.parse(text)
      return history({ pool: database.pool, catalog, parseWallet }, caller.accountId, query)
    },
  },
})
afterAll(() => app.close())

/** Sends the example of the call with these values instead of its own. */
async function send(endpoint: Endpoint, sent: Partial<Record<Place, unknown>>): Promise<Reply> {
  const { example } = endpoint
  const params = { ...example.params, ...Object(sent.params) } as Record<string, string>
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(params[name])))
  const payload = 'body' in sent ? sent.body : example.body
  const reply = await app.inject({
    method: endpoint.method,
    url: `${path}?${toQuery((sent.query ?? example.query ?? {}) as Json)}`,
    headers: {
      ...key,
      ...Object(sent.headers),
      ...(endpoint.body && { 'content-type': 'application/json' }),
    },
    ...(endpoint.body && { payload: JSON.stringify(payload) }),
  })
  const { message = '', details = {} } = reply.statusCode === 200 ? {} : reply.json()
  expectPlainWords({ message, details })
  return { status: reply.statusCode, message, issues: details.issues ?? [] }
}

/** A list is a repeated parameter, and the fields of an object follow a dot. */
function toQuery(query: Json): URLSearchParams {
  const text = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const each of [...value, ...value]) text.append(name, String(each))
    else if (value !== null && typeof value === 'object')
      for (const [inner, each] of Object.entries(value)) text.append(`${name}.${inner}`, String(each))
    else if (value !== undefined) text.append(name, String(value))
  }
  return text
}

/** The fields as the server reads them. */
function arriving(place: Place, sent: Json): unknown {
  if (place === 'body') return JSON.parse(JSON.stringify(sent))
  if (place !== 'query') return sent
  const text = toQuery(sent)
  return Object.fromEntries(
    [...new Set(text.keys())].map((name) => {
      const values = text.getAll(name)
      return [name, values.length > 1 ? values : values[0]]
    }),
  )
}

const ways: Record<string, (right: unknown) => unknown> = {
  missing: () => undefined,
  null: () => null,
  'a number': () => 7.5,
  'a text': () => 'wrong',
  empty: () => '',
  'too long': () => 'x'.repeat(3_000),
  'a list': (right) => [right],
  'an object': (right) => ({ value: right }),
  'of the wrong form': (right) => ` ${String(right)}`,
  negative: () => -1,
}

type Case = { title: string; endpoint: Endpoint; place: Place; name: string; sent: unknown; isWrong: boolean }

const schemas = (endpoint: Endpoint): [Place, Field][] =>
  (['body', 'query', 'params', 'headers'] as const).flatMap((place) => {
    const schema = endpoint[place] as Field | undefined
    return schema ? [[place, schema]] : []
  })

/** Each field of this object wrong in each way, and a field that it does not have. */
function* casesOf(endpoint: Endpoint, place: Place, schema: Field, path: string[]): Generator<Case> {
  const whole = endpoint[place] as Field
  const example = (endpoint.example as Partial<Record<Place, Json>>)[place] ?? {}
  const set = (name: string, value: unknown) => replaced(example, [...path, name], value)
  const toCase = (name: string, way: string, sent: Json): Case => ({
    ...{ title: `${endpoint.id}: ${[...path, name].join('.')} ${way}`, endpoint, place, sent },
    ...{ name: [...path, name].join('.'), isWrong: !Schema.Check(whole as never, arriving(place, sent)) },
  })
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const right = path.reduce<Json>((node, each) => Object(node[each]), example)[name]
    for (const [way, toWrong] of Object.entries(ways)) yield toCase(name, way, set(name, toWrong(right)))
    if (field.properties) yield* casesOf(endpoint, place, field, [...path, name])
  }
  if (place === 'body' || place === 'query') yield toCase('stranger', 'unknown', set('stranger', 'x'))
}

function replaced(node: Json, [name = '', ...rest]: string[], value: unknown): Json {
  return { ...node, [name]: rest.length === 0 ? value : replaced(Object(node[name]), rest, value) }
}

const all: readonly Endpoint[] = Object.values(endpoints)
const cases = all.flatMap((endpoint) =>
  schemas(endpoint)
    // A path without one of its segments is another path.
    .flatMap(([place, schema]) => [...casesOf(endpoint, place, schema, [])].filter(isSendable)),
)

function isSendable({ place, sent, name }: Case): boolean {
  const value = Object(sent)[name]
  return (place !== 'params' && place !== 'headers') || (typeof value === 'string' && value !== '')
}

test('the table of calls has fields to send', () => {
  expect(cases.length).toBeGreaterThan(300)
  expect(cases.filter(({ isWrong }) => isWrong).length).toBeGreaterThan(250)
})

describe.each(all)('$method $path', (endpoint) => {
  const own = cases.filter((each) => each.endpoint === endpoint)

  test('a wrong field is named, with what it should look like, and without jargon', async () => {
    for (const { title, place, name, sent, isWrong } of own) {
      const { status, message, issues } = await send(endpoint, { [place]: sent })
      const told = `${title}: ${status} ${message}`

      expect(status, told).toBeLessThan(500)
      if (isWrong) expect(status, told).toBe(400)
      if (status !== 400) continue
      const issue = issues.find(({ field }) => field === name || field.startsWith(`${name}.`))
      expect(issue?.message, told).toMatch(/^(must be|is required: |is not a known field)/)
      expect(issue?.message, told).toMatch(
        /such as|one of|from \d|unchanged|with the fields|known (are|is)|takes none/,
      )
      expect(message, told).toContain(`${issue?.field} ${issue?.message}`)
    }
  })

  test('several wrong fields are all named, each once', async () => {
    for (const [place, { properties = {} }] of schemas(endpoint)) {
      if (place !== 'body' && place !== 'query') continue
      const names = Object.keys(properties)
      const { status, message, issues } = await send(endpoint, {
        [place]: Object.fromEntries([...names, 'stranger'].map((name) => [name, ['x']])),
      })

      expect([status, issues.map(({ field }) => field).sort()]).toEqual([400, [...names, 'stranger'].sort()])
      for (const { field, message: problem } of issues) expect(message).toContain(`${field} ${problem}`)
    }
  })
})

test('of thousands of unknown fields twenty are named', async () => {
  const [endpoint] = all.filter((each) => each.body)
  const names = Array.from({ length: 2_000 }, (_, index) => `walletAddre${index}`)
  const body = Object.fromEntries(names.map((name) => [name, 1]))

  const { issues } = await send(endpoint as Endpoint, { body })

  expect(issues).toHaveLength(20)
})

test.each([
  ['null', null],
  ['a list', []],
  ['a text', 'x'],
])('a body that is %s is told the fields of its call', async (_, body) => {
  for (const endpoint of all.filter((each) => each.body)) {
    const { issues } = await send(endpoint, { body })

    expect(issues).toEqual([
      { field: 'body', message: expect.stringMatching(/^must be an object with the fields \w+/) },
    ])
  }
})
