import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { QuoteReply, StatusReply } from '@geoswap/sdk'
import type { Context } from '@geoswap/wallet/context'
import { addressOf, deriveKey } from '@geoswap/wallet/keys'
import { openJournal } from '@geoswap/wallet/store/journal'
import { openWalletFiles } from '@geoswap/wallet/store/wallet-files'
import { answerAsNode } from '@geoswap/wallet/test/nodes'
import { type ChosenWallet, walletId } from '@geoswap/wallet/wallets'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { createConfirmations } from '../src/confirmations.ts'
import { attendedBy, type McpContext } from '../src/mcp-context.ts'
import { toRules } from '../src/rules.ts'
import { createMcpServer } from '../src/server.ts'
import { openSpending } from '../src/spending.ts'

const key = deriveKey('evm', 'mcp')
export const wallet: ChosenWallet = { name: 'bot', family: 'evm', address: await addressOf(key) }

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

type Answer = (url: URL) => object | { status: number; body: object }

/** A service and nodes that answer by path, and an MCP server in front of them. Nobody holds EMPTY. */
export async function startWorld() {
  const home = mkdtempSync(join(tmpdir(), 'geoswap-mcp-'))
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
    const [, area, what = ''] = url.pathname.split('/')
    if (area === 'swap') requests.push(url)
    const answer = area === 'node' ? nodeAnswer(Number(what), asked) : answers[`/swap/${what}`]?.(url)
    const { status, body } =
      answer && 'status' in answer && 'body' in answer ? answer : { status: 200, body: answer }
    response.writeHead(Number(answer ? status : 404), { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const mcp = openTestMcp(home, url)
  return {
    ...mcp,
    answers,
    requests,
    connect: (capabilities = {}) => connectClient(mcp.mcp, capabilities),
    async stop(): Promise<void> {
      await new Promise((resolve) => server.close(resolve).closeAllConnections())
      rmSync(home, { recursive: true })
    },
  }
}

function nodeAnswer(chainId: number, asked: { id?: unknown; params?: unknown }): object {
  const [call] = (asked.params ?? []) as { data?: string; to?: string }[]
  const isBalance = call?.data?.startsWith('0x70a08231')
  if (!isBalance) return answerAsNode(chainId, symbols, asked)
  const amount = symbols[call?.to?.toLowerCase() ?? ''] === 'EMPTY' ? 0 : 1_500_000
  return { jsonrpc: '2.0', id: asked.id, result: `0x${amount.toString(16).padStart(64, '0')}` }
}

/** Limits of 50 USD a swap and 60 USD a day, and confirmation above 15 USD. */
function openTestMcp(home: string, url: string) {
  const running = new Set<string>()
  const lines: string[] = []
  const journal = openJournal(join(home, 'journal'))
  const rpcUrls = Object.fromEntries(chains.map(({ chainId }) => [chainId, `${url}/node/${chainId}`]))
  const context = {
    home,
    journal,
    settings: { service: { url, apiKey: 'key' }, rpcUrls, contracts: {} },
    terminal: { isInteractive: false, json: false, note: () => {}, progress: () => {} },
    wallets: openWalletFiles(join(home, 'wallets')),
    unlocked: new Map([[walletId(wallet), key]]),
    isAttended: attendedBy(running),
  }
  const mcp: McpContext = {
    context: context as unknown as Context,
    wallets: [wallet],
    isReadOnly: false,
    log: (line) => lines.push(line),
    rules: toRules(
      { maxSwapUsd: '50', maxDayUsd: '60', confirmAboveUsd: '15' },
      [wallet.address],
      () => undefined,
    ),
    spending: openSpending(join(home, 'spending'), journal),
    confirmations: createConfirmations(),
    submitting: new Set(),
    running,
  }
  return { mcp, journal, lines }
}

/** A client of the server, and its calls with their text and their value or error. */
async function connectClient(mcp: McpContext, capabilities: object) {
  const client = new Client({ name: 'test', version: '1' }, { capabilities })
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await Promise.all([createMcpServer(mcp).connect(ours), client.connect(theirs)])
  return {
    client,
    async call(
      name: string,
      args: object = {},
      onprogress?: (step: { progress: number; message?: string }) => void,
    ) {
      const asked = { name, arguments: args as Record<string, unknown> }
      const options = { ...(onprogress && { onprogress: onprogress as never }) }
      const reply = (await client.callTool(asked, undefined, options)) as CallToolResult
      const [said, data] = reply.content.map((part) => (part.type === 'text' ? part.text : ''))
      const error = reply.isError && data !== undefined ? JSON.parse(data).error : undefined
      return { text: said, value: reply.structuredContent, isError: reply.isError === true, error }
    },
  }
}
