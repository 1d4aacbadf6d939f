import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { evmRequest } from '../../packages/sdk/test/evm-offer.ts'
import { answerAsNode } from '../../packages/wallet/test/nodes.ts'
import { createOffers, type Offers } from './offers.ts'

export type Reply = { status: number; body: unknown }

/** Changes the honest reply to this path; `times` is how often, always when absent. */
export type Lie = { name: string; path: string; times?: number; tell(honest: Reply, offers: Offers): Reply }

export type Handed = { path: string; body: Record<string, unknown> }
export type Liar = Awaited<ReturnType<typeof startLiar>>

// A service holds a read of a pending swap. Without that, a client that waits for the end asks without a pause.
const HOLD_MS = 20

/** A real HTTP server: a service that lies on demand, and honest nodes of the caller beside it. */
export async function startLiar() {
  const offers = createOffers()
  const handed: Handed[] = []
  let lie: Lie | undefined
  let told = 0

  function answer(path: string, url: URL, body: Record<string, unknown>): Reply {
    handed.push({ path, body })
    const honest = offers.answer(path, url, body)
    if (lie?.path !== path || told >= (lie.times ?? Number.POSITIVE_INFINITY)) return honest
    told += 1
    const reply = lie.tell(structuredClone(honest), offers)
    offers.remember(path, reply.body)
    return reply
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://service')
    const path = url.pathname.replace(/(\/swap\/[\w-]+)(\/[^/]+)?/, '$1')
    const body = await readBody(request)
    if (path === '/swap/status' && handed.some((each) => each.path === path)) await delay(HOLD_MS)
    const reply = path.startsWith('/node/') ? nodeReply(path, body) : answer(path, url, body)
    response.writeHead(reply.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(reply.body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    ...{ url, offers },
    nodeUrl: (chainId: number) => `${url}/node/${chainId}`,
    handed: () => handed,
    begin(next: Lie | undefined): void {
      lie = next
      told = 0
      handed.length = 0
      offers.reset()
    },
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  return JSON.parse((await text(request)) || '{}')
}

const tokens = [evmRequest.inputToken, evmRequest.outputToken]
const SYMBOLS = Object.fromEntries(tokens.map((address) => [address.toLowerCase(), 'USDC']))

function nodeReply(path: string, body: Record<string, unknown>): Reply {
  return { status: 200, body: answerAsNode(Number(path.split('/').at(-1)), SYMBOLS, body) }
}
