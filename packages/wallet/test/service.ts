import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { QuoteReply, StatusReply } from '@geoswap/sdk'
import { answerAsNode } from './nodes.ts'

const ZERO = `0x${'0'.repeat(40)}`
const native = { symbol: 'ETH', decimals: 18, address: ZERO }
const caip = (chainId: number, name: string) => ({
  chainId: `eip155:${chainId}`,
  [name]: `eip155:${chainId}/slip44:60`,
})
export const chains = [
  {
    ...{ name: 'alpha', chainId: 31_337, family: 'evm', native, available: true },
    caip: caip(31_337, 'native'),
  },
  {
    ...{ name: 'beta', chainId: 31_338, family: 'evm', native, available: false },
    ...{ reason: 'CHAIN_UNAVAILABLE', caip: caip(31_338, 'native') },
  },
]
const token = (chainId: number, symbol: string, digit: string) => ({
  ...{ chainId, symbol, decimals: 6, input: true, output: false, address: `0x${digit.repeat(40)}` },
  ...{ asset: symbol, native: false, caip: caip(chainId, 'address') },
})
/** Two tokens of beta have the same symbol. */
export const tokens = [
  { ...token(31_337, 'USDC', '7'), priceUsd: '1.00' },
  token(31_337, 'EMPTY', '5'),
  token(31_338, 'USDC', '8'),
  token(31_338, 'TWIN', '1'),
  token(31_338, 'TWIN', '2'),
]
const symbols = Object.fromEntries(tokens.map(({ address, symbol }) => [address, symbol]))

/** An offer of 9.9 USDC for 10, with 9.8 guaranteed. */
export const offer: QuoteReply = {
  ...{ geoQuoteToken: 'quote', origin: 'evm', feeBps: 10, etaSeconds: 3, fees: [], priceImpactBps: -10 },
  ...{ input: '10000000', output: '9900000', minOutput: '9800000', inputUsd: '10.00', outputUsd: '9.90' },
  expiresAt: '2026-01-02T03:04:35.678Z',
}

export const swap: StatusReply = {
  ...{
    swapId: 'swp_1',
    status: 'pending',
    substatus: 'locked',
    originChain: 31_337,
    destinationChain: 31_338,
  },
  ...{ createdAt: '2026-01-02T03:04:12.000Z', updatedAt: '2026-01-02T03:04:20.000Z', timeline: [] },
  caip: { originChain: 'eip155:31337', destinationChain: 'eip155:31338' },
  amounts: { input: offer.input, quotedOutput: offer.output, minOutput: offer.minOutput },
}

export type Answer = (url: URL, body: Record<string, string>) => object | { status: number; body: object }

/** A service, a faucet and nodes that answer by path. Nobody holds EMPTY, everybody 1.5 of each other token. */
export async function startTestService() {
  const answers: Record<string, Answer> = {
    '/swap/chains': () => ({ chains }),
    '/swap/tokens': () => ({ tokens }),
    '/swap/quote': () => offer,
    '/swap/status': () => swap,
  }
  const requests: URL[] = []
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://world')
    const asked = JSON.parse((await text(request)) || '{}')
    const [, area = '', what = ''] = url.pathname.split('/')
    if (area !== 'node') requests.push(url)
    const path = what === '' ? `/${area}` : `/${area}/${what}`
    const answer = area === 'node' ? nodeAnswer(Number(what), asked) : answers[path]?.(url, asked)
    const { status, body } =
      answer && 'status' in answer && 'body' in answer ? answer : { status: 200, body: answer }
    response.writeHead(Number(answer ? status : 404), { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    ...{ url, answers, requests },
    nodeOf: (chainId: number) => `${url}/node/${chainId}`,
    stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}

function nodeAnswer(chainId: number, asked: { id?: unknown; params?: unknown }): object {
  const [call] = (asked.params ?? []) as { data?: string; to?: string }[]
  const isBalance = call?.data?.startsWith('0x70a08231')
  if (!isBalance) return answerAsNode(chainId, symbols, asked)
  const amount = symbols[call?.to?.toLowerCase() ?? ''] === 'EMPTY' ? 0 : 1_500_000
  return { jsonrpc: '2.0', id: asked.id, result: `0x${amount.toString(16).padStart(64, '0')}` }
}
