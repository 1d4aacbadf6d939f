import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stub } from '@geoswap/protocol/test/stub'
import type { Context } from '@geoswap/wallet/context'
import { addressOf, deriveKey } from '@geoswap/wallet/keys'
import { openJournal } from '@geoswap/wallet/store/journal'
import { openWalletFiles } from '@geoswap/wallet/store/wallet-files'
import { chains, startTestService } from '@geoswap/wallet/test/service'
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

/** A service and nodes that answer by path, and an MCP server in front of them. */
export async function startWorld() {
  const home = mkdtempSync(join(tmpdir(), 'geoswap-mcp-'))
  const service = await startTestService()
  const mcp = openTestMcp(home, service)
  return {
    ...{ ...mcp, answers: service.answers, requests: service.requests },
    connect: (capabilities = {}) => connectClient(mcp.mcp, capabilities),
    async stop(): Promise<void> {
      await service.stop()
      rmSync(home, { recursive: true })
    },
  }
}

/** Limits of 50 USD a swap and 60 USD a day, and confirmation above 15 USD. */
function openTestMcp(home: string, { url, nodeOf }: Awaited<ReturnType<typeof startTestService>>) {
  const running = new Set<string>()
  const lines: string[] = []
  const journal = openJournal(join(home, 'journal'))
  const rpcUrls = Object.fromEntries(chains.map(({ chainId }) => [chainId, nodeOf(chainId)]))
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
    context: stub<Context>(context),
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
    unheard: new Map(),
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
