import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Call = { id: number; method: string; params: unknown[] }

/** `balances`: only those are old. `all`: the node knows no later block, and still passes transactions on. */
type Lag = { block: bigint; what: 'balances' | 'all' }

// The place of the block in the parameters of calls that read state.
const BLOCK_AT = new Map([
  ['eth_getBalance', 1],
  ['eth_getTransactionCount', 1],
  ['eth_getCode', 1],
  ['eth_call', 1],
])

/** A node in front of another, whose answers can stay at an earlier block. */
export async function startLaggingNode(url: string) {
  let lag: Lag | undefined

  async function answer(call: Call): Promise<unknown> {
    if (lag?.what === 'all' && call.method === 'eth_blockNumber') return { result: toHex(lag.block) }
    if (lag?.what === 'all' && call.method === 'eth_getTransactionReceipt') return { result: null }
    const body = JSON.stringify(lag ? atBlock(call, lag) : call)
    const reply = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    return reply.json()
  }

  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    const asked = JSON.parse(text) as Call | Call[]
    const calls = Array.isArray(asked) ? asked : [asked]
    const answers = await Promise.all(
      calls.map(async (call) => ({ jsonrpc: '2.0', ...((await answer(call)) as object), id: call.id })),
    )
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(Array.isArray(asked) ? answers : answers[0]))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lagAt: (chosen: Lag | undefined) => {
      lag = chosen
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function atBlock(call: Call, { block, what }: Lag): Call {
  const at = BLOCK_AT.get(call.method)
  if (at === undefined || (what === 'balances' && call.method !== 'eth_getBalance')) return call
  const asked = call.params[at] ?? 'latest'
  if (asked !== 'latest' && asked !== 'pending') return call
  return { ...call, params: [...call.params.slice(0, at), toHex(block), ...call.params.slice(at + 1)] }
}

const toHex = (block: bigint) => `0x${block.toString(16)}`
