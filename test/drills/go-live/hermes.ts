import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readPreset } from '../../../packages/service/src/operate/presets.ts'

const USD_E8: Readonly<Record<string, bigint>> = {
  ...{ ETH: 2_500n * 10n ** 8n, SOL: 150n * 10n ** 8n, USDC: 10n ** 8n },
}
const CONFIDENCE_E8 = 10_000n

/** A price server as Pyth's, with the feeds that the presets of these chains name. */
export async function startHermes(
  chains: readonly string[],
): Promise<{ url: string; stop(): Promise<void> }> {
  const feeds = chains
    .flatMap((name) => readPreset(name)?.feeds ?? [])
    .flatMap((feed) => (feed.kind === 'pyth' ? [{ id: feed.feedId.slice(2), asset: feed.asset }] : []))
  const priceOf = (asset: string) => ({
    price: String(USD_E8[asset]),
    conf: String(CONFIDENCE_E8),
    expo: -8,
    publish_time: Math.floor(Date.now() / 1_000),
  })
  const server = createServer((request, response) => {
    const isList = request.url?.startsWith('/v2/price_feeds') === true
    const named = feeds.map(({ id, asset }) => ({ id, attributes: { symbol: `Crypto.${asset}/USD` } }))
    const parsed = feeds.map(({ id, asset }) => ({ id, price: priceOf(asset) }))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(isList ? named : { parsed }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
