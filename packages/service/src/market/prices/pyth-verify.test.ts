import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { findPythDifferences, withoutRenamed } from './pyth.ts'

const SOL = `0x${'ef0d'.repeat(16)}`
const BTC = `0x${'e62d'.repeat(16)}`
const feeds = [
  { id: SOL.slice(2), attributes: { symbol: 'Crypto.SOL/USD' } },
  { id: BTC.slice(2), attributes: { symbol: 'Crypto.BTC/USD' } },
  { id: '00', attributes: { symbol: 'Crypto.MSOL/USD' } },
]

const search: RequestListener = ({ url = '' }, response) => {
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  const query = searchParams.get('query') ?? ''
  if (pathname !== '/hermes/v2/price_feeds') return void response.writeHead(404).end()
  response.end(JSON.stringify(feeds.filter(({ attributes }) => attributes.symbol.includes(query))))
}
const server = createServer(search)
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const hermes = { url: `${origin}/hermes` }

test('a feed is right if the server’s name of it is its asset', async () => {
  expect(await findPythDifferences(hermes, [{ asset: 'SOL', feedId: SOL }])).toEqual({
    problems: [],
    warnings: [],
  })
})

test('a feed with another name is right if the configuration has that name', async () => {
  const wrapped = { asset: 'WSOL', feedId: SOL, description: 'Crypto.SOL/USD' }

  expect(await findPythDifferences(hermes, [wrapped])).toEqual({ problems: [], warnings: [] })
})

test.each([
  ['of another asset', BTC, 'no feed of Crypto.SOL/USD'],
  ['with an unknown id', `0x${'00'.repeat(32)}`, 'no feed of Crypto.SOL/USD'],
])('a feed %s is a problem', async (_, feedId, message) => {
  const { problems } = await findPythDifferences(hermes, [{ asset: 'SOL', feedId }])

  expect(problems).toEqual([expect.stringContaining(message)])
})

test('a server that does not list feeds is one warning, without its address', async () => {
  const asked = [
    { asset: 'SOL', feedId: SOL },
    { asset: 'BTC', feedId: BTC },
  ]

  expect(await findPythDifferences({ url: `${origin}/hermes/v2` }, asked)).toEqual({
    problems: [],
    warnings: ['Pyth feeds cannot be verified: Hermes answered 404'],
  })
})

test('a feed that is of another asset now gives no price until it is the right one again', async () => {
  let now = 0
  const named = { asset: 'SOL', feedId: BTC }
  const price = { price: 1n, freshForMs: 1_000 }
  const readings = [
    { asset: 'SOL', feed: `pyth ${BTC}`, outcome: price },
    { asset: 'BTC', feed: `pyth ${SOL}`, outcome: price },
  ]
  const source = { name: 'pyth', assets: new Set<string>(), read: async () => readings }
  const checked = withoutRenamed(source, { server: hermes, feeds: [named], now: () => now })
  const outcomes = async () => (await checked.read()).map(({ outcome }) => outcome)

  const before = await outcomes()
  feeds.push({ id: BTC.slice(2), attributes: { symbol: 'Crypto.SOL/USD' } })
  now += 29_999
  const still = await outcomes()
  now += 1
  const after = await outcomes()
  feeds.pop()

  expect(before).toEqual([{ problem: 'renamed' }, price])
  expect(still).toEqual(before)
  expect(after).toEqual([price, price])
})
