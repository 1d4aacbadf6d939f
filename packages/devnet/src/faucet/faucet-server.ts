import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type FaucetChain, FaucetRefusal } from './faucet-chain.ts'
import { parseGift } from './gift.ts'

const LARGEST_BODY_BYTES = 16_384
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-allow-headers': '*',
}

/** The faucet over HTTP: POST / gives test tokens, GET / explains. For local networks only. */
export function createFaucetServer(chains: readonly FaucetChain[]): Server {
  return createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    answer(chains, request)
      .catch(toFailure)
      .then(({ status, body }) => reply(response, { status, body }))
  })
}

type Answer = { status: number; body?: unknown }

async function answer(chains: readonly FaucetChain[], request: IncomingMessage): Promise<Answer> {
  if (request.method === 'OPTIONS') return { status: 204 }
  if (new URL(request.url ?? '/', 'http://faucet').pathname !== '/') {
    throw new FaucetRefusal({ status: 404, code: 'NOT_FOUND', message: 'The faucet has one address: /' })
  }
  if (request.method === 'GET') return { status: 200, body: explain(chains) }
  if (request.method !== 'POST') {
    throw new FaucetRefusal({ status: 405, code: 'METHOD_NOT_ALLOWED', message: 'Use POST, or GET for help' })
  }
  const { chain, ...gift } = parseGift(chains, await readBody(request))
  return { status: 200, body: { txHash: await chain.give(gift) } }
}

function explain(chains: readonly FaucetChain[]) {
  return {
    usage: 'POST / with { chainId, address, token, amount }; answers { txHash } once the balance is visible',
    amount: 'decimal string in the smallest unit',
    token: 'address or symbol; the native token is the zero address, on Solana the one of 32 ones',
    chains: chains.map(({ chainId, tokens }) => ({ chainId, tokens })),
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > LARGEST_BODY_BYTES) {
      throw new FaucetRefusal({
        status: 413,
        code: 'BODY_TOO_LARGE',
        message: 'The body is larger than 16 KiB',
      })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function toFailure(error: unknown): Answer {
  if (error instanceof FaucetRefusal) {
    return { status: error.status, body: { code: error.code, message: error.message } }
  }
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  return {
    status: 502,
    body: { code: 'CHAIN_UNAVAILABLE', message: 'The chain did not take the transaction' },
  }
}

function reply(response: ServerResponse, { status, body }: Answer): void {
  const headers = {
    ...CORS,
    'cache-control': 'no-store',
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  response.writeHead(status, headers).end(body === undefined ? undefined : JSON.stringify(body))
}
