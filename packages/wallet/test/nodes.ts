import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { encodeAbiParameters, numberToHex } from 'viem'

/** Symbols of tokens with six decimals, by lower-case address. */
type TestTokens = Readonly<Record<string, string>>

/** The parts of a node that clients read: its chain, its clock, and the tokens' metadata. */
export function answerAsNode(chainId: number, tokens: TestTokens, request: Record<string, unknown>): object {
  const { id, method, params } = request
  const [call] = (params ?? []) as { data?: string; to?: string }[]
  const symbol = tokens[call?.to?.toLowerCase() ?? ''] ?? 'OTHER'
  const timestamp = numberToHex(Math.floor(Date.now() / 1_000))
  const answers: Record<string, unknown> = {
    eth_chainId: numberToHex(chainId),
    eth_getBlockByNumber: { number: '0x1', timestamp, transactions: [] },
    eth_call: call?.data?.startsWith('0x313ce567')
      ? numberToHex(6, { size: 32 })
      : encodeAbiParameters([{ type: 'string' }], [symbol]),
  }
  return { jsonrpc: '2.0', id, result: answers[String(method)] }
}

/** Serves such a node for every chain, at the path of its id. */
export async function startTestNodes(tokens: TestTokens) {
  const server = createServer(async (request, response) => {
    const chainId = Number(request.url?.slice(1))
    const asked = (await json(request)) as Record<string, unknown>
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answerAsNode(chainId, tokens, asked)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    urlOf: (chainId: number) => `${url}/${chainId}`,
    stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}
