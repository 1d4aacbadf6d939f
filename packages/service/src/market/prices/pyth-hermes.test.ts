import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createPythSource } from './pyth.ts'

const ETH = `0x${'ff61'.repeat(16)}`
const SOL = `0x${'ef0d'.repeat(16)}`
const NOW = 1_800_000_000

const refuse: RequestListener = (_request, response) => response.writeHead(500).end()
let answer = refuse
let server: Server
let url: string
beforeAll(async () => {
  server = createServer((request, response) => answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  answer = refuse
})

const limits = { maxAgeSeconds: 30, maxConfidenceBps: 100 }
const feeds = [
  { asset: 'ETH', feedId: ETH, ...limits },
  { asset: 'SOL', feedId: SOL, ...limits },
]
const sourceAt = (base: string, more: object = {}) =>
  createPythSource({ url: base, feeds, pollMs: 1_000, timeoutMs: 10_000, now: () => NOW * 1_000, ...more })

const quoted = { price: '250012345678', conf: '20000000', expo: -8, publish_time: NOW - 2 }
const entry = (feedId: string, price: object = quoted) => ({ id: feedId.slice(2), price, ema_price: quoted })
const tell = (body: unknown) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  answer = (_request, response) => response.setHeader('content-type', 'application/json').end(text)
}
const outcomes = async () => (await sourceAt(url).read()).map(({ outcome }) => outcome)

test('requests all feeds at once, under the path of the URL, with the key', async () => {
  const asked: unknown[] = []
  answer = ({ url: path, headers }, response) => {
    asked.push([path, headers.authorization])
    response.end(JSON.stringify({ parsed: [] }))
  }
  const ids = [ETH, SOL].map((id) => `ids%5B%5D=${id}`).join('&')
  const path = `/hermes/v2/updates/price/latest?${ids}&parsed=true&ignore_invalid_price_ids=true`

  await sourceAt(`${url}/hermes`, { apiKey: 'abc' }).read()
  await sourceAt(`${url}/hermes/`).read()

  expect(asked).toEqual([
    [path, 'Bearer abc'],
    [path, undefined],
  ])
})

test('a price is scaled to 18 decimals by its exponent', async () => {
  tell({ parsed: [entry(ETH), entry(SOL, { ...quoted, price: '15', conf: '0', expo: 1 })] })

  expect(await sourceAt(url).read()).toEqual([
    { asset: 'ETH', feed: `pyth ${ETH}`, outcome: { price: 250012345678n * 10n ** 10n, freshForMs: 29_000 } },
    { asset: 'SOL', feed: `pyth ${SOL}`, outcome: { price: 150n * 10n ** 18n, freshForMs: 29_000 } },
  ])
})

describe('a feed that is not live does not affect the other', () => {
  const broken: [string, unknown, string][] = [
    ['missing', undefined, 'noAnswer'],
    ['null', null, 'noAnswer'],
    ['without a price', { id: ETH.slice(2) }, 'noAnswer'],
    ['with a numeric price', entry(ETH, { ...quoted, price: 250012345678 }), 'noAnswer'],
    ['with a fractional price', entry(ETH, { ...quoted, price: '2500.12' }), 'noAnswer'],
    ['with too long a price', entry(ETH, { ...quoted, price: '9'.repeat(21) }), 'noAnswer'],
    ['with a negative confidence', entry(ETH, { ...quoted, conf: '-1' }), 'noAnswer'],
    ['with a huge exponent', entry(ETH, { ...quoted, expo: 1_000_000 }), 'noAnswer'],
    ['with a fractional exponent', entry(ETH, { ...quoted, expo: -8.5 }), 'noAnswer'],
    ['without a time', entry(ETH, { ...quoted, publish_time: undefined }), 'noAnswer'],
    ['at zero', entry(ETH, { ...quoted, price: '0', conf: '0' }), 'notPositive'],
    ['below zero', entry(ETH, { ...quoted, price: '-5' }), 'notPositive'],
    ['too old', entry(ETH, { ...quoted, publish_time: NOW - 31 }), 'stale'],
    ['from the future', entry(ETH, { ...quoted, publish_time: NOW + 61 }), 'ahead'],
    [
      'with too wide a confidence interval',
      entry(ETH, { ...quoted, price: '1000', conf: '11' }),
      'uncertain',
    ],
  ]

  test.each(broken)('%s', async (_name, wrong, problem) => {
    tell({ parsed: [...(wrong === undefined ? [] : [wrong]), entry(SOL)] })

    expect(await outcomes()).toEqual([{ problem }, expect.objectContaining({ price: expect.any(BigInt) })])
  })

  test('with a confidence at the limit is live', async () => {
    tell({ parsed: [entry(ETH, { ...quoted, price: '1000', conf: '10' })] })

    expect((await outcomes())[0]).toMatchObject({ price: 10n ** 13n })
  })
})

describe('a malformed answer of the server is an error', () => {
  test.each(['', '{', 'null', '[]', '"x"', '{"parsed":{}}', '{"binary":{}}'])('body %s', async (body) => {
    tell(body)

    await expect(outcomes()).rejects.toThrow()
  })

  test.each([404, 429, 500, 503])('status %i', async (status) => {
    answer = (_request, response) => response.writeHead(status).end('x'.repeat(1_000))

    await expect(outcomes()).rejects.toThrow(`Hermes answered ${status}`)
  })

  test('a redirect is not followed', async () => {
    answer = ({ url: path }, response) => {
      if (path === '/elsewhere') return response.end(JSON.stringify({ parsed: [entry(ETH)] }))
      return response.writeHead(302, { location: '/elsewhere' }).end()
    }

    await expect(outcomes()).rejects.toThrow()
  })

  test('a missing or endless answer times out', async () => {
    const impatient = sourceAt(url, { timeoutMs: 300 })

    answer = () => {}
    await expect(impatient.read()).rejects.toThrow(/timeout/)
    answer = (_request, response) => response.write('{"parsed":[')
    await expect(impatient.read()).rejects.toThrow(/timeout/)
  })

  test('an answer of more than a megabyte is not read to its end', async () => {
    let sent = 0
    answer = (request, response) => {
      const more = () => {
        while (!request.destroyed && sent < 1 << 28) {
          sent += 65_536
          if (!response.write(' '.repeat(65_536))) return void response.once('drain', more)
        }
        response.end()
      }
      more()
    }

    await expect(outcomes()).rejects.toThrow('more than 1048576 bytes')
    expect(sent).toBeLessThan(1 << 25)
  })

  test('an unreachable server', async () => {
    await expect(sourceAt('http://127.0.0.1:1').read()).rejects.toThrow()
  })
})

test('any other JSON is an error or readings without a price', async () => {
  const value = fc.jsonValue()
  const update = fc.record({ price: value, conf: value, expo: value, publish_time: value })
  const listed = fc.record({ id: fc.oneof(fc.constant(ETH.slice(2)), value), price: fc.oneof(update, value) })
  const reply = fc.oneof(fc.record({ parsed: fc.oneof(fc.array(listed), value) }), value)

  const property = fc.asyncProperty(reply, async (body) => {
    tell(JSON.stringify(body))
    const found = await outcomes().catch(() => [])
    expect(found.filter((outcome) => 'price' in outcome)).toEqual([])
  })
  await fc.assert(property, { numRuns: 200 })
})
