import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPostJson } from '../../src/chains/nodes/post-json.ts'

type Call = { id: unknown; method: string }
type Reply = { id: unknown; result?: unknown; error?: unknown }
/** The wrong answers of a node, by method. */
type Lies = Record<string, (truth: unknown) => unknown>

type Liar = { url: string; stop(): Promise<void> }

const MAX_SLOT_LEAD = 1_000

/** An EVM node that is far ahead, saw no events, and accepts no transaction. */
const evmLies: Lies = {
  eth_blockNumber: (truth) => `0x${(Number(truth) + MAX_SLOT_LEAD).toString(16)}`,
  eth_getBlockByNumber: (truth) => ({
    ...(truth as object),
    hash: `0x${'66'.repeat(32)}`,
    timestamp: '0xfffffff',
  }),
  eth_getLogs: () => [],
  eth_getTransactionCount: (truth) => `0x${(Number(truth) + MAX_SLOT_LEAD).toString(16)}`,
  eth_call: (truth) => (truth as string).replaceAll(/[1-9a-f](?=[^x])/g, '0'),
}

/** A Solana node that is far ahead, has no account, knows no transaction and accepts none. */
const solanaLies: Lies = {
  getEpochInfo: (truth) => {
    const { absoluteSlot, blockHeight } = truth as { absoluteSlot: number; blockHeight: number }
    return { absoluteSlot: absoluteSlot + MAX_SLOT_LEAD, blockHeight: blockHeight + MAX_SLOT_LEAD }
  },
  getLatestBlockhash: (truth) => {
    const { context, value } = truth as { context: { slot: number }; value: { lastValidBlockHeight: number } }
    const lastValidBlockHeight = value.lastValidBlockHeight + MAX_SLOT_LEAD
    return { context: { slot: context.slot + MAX_SLOT_LEAD }, value: { ...value, lastValidBlockHeight } }
  },
  getMultipleAccounts: (truth) => ({
    ...(truth as object),
    value: (truth as { value: [] }).value.map(() => null),
  }),
  getSignaturesForAddress: () => [],
  getTransaction: () => null,
  getSignatureStatuses: (truth) => ({
    ...(truth as object),
    value: (truth as { value: [] }).value.map(() => null),
  }),
}

const SENDING = new Set(['eth_sendRawTransaction', 'sendTransaction'])

/**
 * A node, and others that an operator may have configured beside it: a read-only one, and one that lies. Tests with all
 * three show that the third is outvoted.
 */
export async function startNodesBeside(rpcUrl: string, family: 'evm' | 'solana') {
  const readOnly = await startLiar(rpcUrl, {})
  const liar = await startLiar(rpcUrl, family === 'evm' ? evmLies : solanaLies)
  const stop = async () => void (await Promise.all([readOnly.stop(), liar.stop()]))
  return { urls: [rpcUrl, readOnly.url, liar.url], stop }
}

/** A proxy of a true node that lies and accepts no transaction. */
async function startLiar(rpcUrl: string, lies: Lies): Promise<Liar> {
  const ask = createPostJson(rpcUrl, { timeoutMs: 10_000 })
  const server = createServer(async (request, response) => {
    const body = await readBody(request)
    const calls = new Map([JSON.parse(body) as Call].flat().map((call) => [call.id, call]))
    if ([...calls.values()].some(({ method }) => SENDING.has(method))) return void response.destroy()
    // The caller may already have its answer from two others, and have stopped the true node.
    const text = await ask(body).catch(() => undefined)
    if (text === undefined) return void response.destroy()
    // Passed on as received: parsing would round an amount of 64 bits.
    if ([...calls.values()].every(({ method }) => !lies[method])) return void response.end(text)
    const truth: Reply | Reply[] = JSON.parse(text)
    const twist = (reply: Reply) => twisted(reply, lies[calls.get(reply.id)?.method ?? ''])
    response.end(JSON.stringify(Array.isArray(truth) ? truth.map(twist) : twist(truth)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function twisted(reply: Reply, lie: Lies[string] | undefined): Reply {
  if (!lie || reply.error) return reply
  return { ...reply, result: lie(reply.result) }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
  return Buffer.concat(parts).toString()
}
